#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All sources and kernel programs compile for arm64.
command -v aarch64-linux-gnu-gcc > /dev/null || { echo "no aarch64-linux-gnu-gcc (scripts/install-deps arm64)"; exit 77; }
exec make --no-print-directory O="${O:-build}" check-arm64
