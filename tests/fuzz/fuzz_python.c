/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of a Python interpreter and its processes. The first byte chooses: 0 = changes to the file of an
 * interpreter, 1 = changes to the memory of a process, 2 = a location table. Changes are triples: place (2 bytes),
 * value. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/tiny_python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static void change(uint8_t *what, size_t what_bytes, const uint8_t *data, size_t len_bytes)
{
	for (size_t i = 0; i + 3 <= len_bytes; i += 3)
		what[(data[i] | (size_t)data[i + 1] << 8) % what_bytes] = data[i + 2];
}

static void use_file(const uint8_t *data, size_t len_bytes)
{
	static uint8_t file[TINY_ELF_BYTES];
	struct python_layout l;
	struct image image;

	tiny_python_elf(file, 0x030b02f0 + (len_bytes % 3 << 16));
	change(file, sizeof(file), data, len_bytes);
	image_from_mem(&image, file, sizeof(file));
	if (python_layout_read(&image, &l, NULL))
		return;
	if (!python_layout_check(&l))
		abort();
	(void)python_layout_move(&l, 0x7f0000000000, 0x1000);
}

static void use_memory(const uint8_t *data, size_t len_bytes)
{
	struct tiny_memory m;
	struct python_memory memory = { tiny_read, &m };
	struct python_layout l;
	struct python_code c;

	if (tiny_layout(&l))
		abort();
	tiny_memory_make(&m);
	change(m.data, sizeof(m.data), data, len_bytes);
	if (python_code_read(&l, &memory, TINY_CODE, &c)) {
		if (c.function || c.file || c.lines)
			abort();
		return;
	}
	if (!c.function || !c.file)
		abort();
	for (uint64_t instr = c.instrs - 2; python_code_holds(&c, instr) && instr < c.instrs + 200;
	     instr += 2)
		(void)python_code_line(&c, instr);
	python_code_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	if (!len_bytes)
		return 0;
	switch (data[0] % 3) {
	case 0:
		use_file(data + 1, len_bytes - 1);
		break;
	case 1:
		use_memory(data + 1, len_bytes - 1);
		break;
	case 2:
		for (uint64_t unit = 0; unit < 64; unit++)
			(void)python_line_of(data + 1, len_bytes - 1, 5, unit);
		break;
	}
	return 0;
}
