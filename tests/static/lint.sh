#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Layers, headers, sizes, formatting, static analysis.
exec make --no-print-directory DEV=1 O="$O" lint
