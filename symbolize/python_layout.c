/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a CPython keeps things; see python_layout.h. Offsets of 3.11 and 3.12: Include/internal/pycore_{runtime,interp,frame}.h
 * and Include/cpython/{pystate,code,unicodeobject}.h of those versions, on 64-bit machines, without Py_DEBUG. */
#include "symbolize/python_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/elf.h"
#include "user/base/mem.h"

enum {
	SYMBOLS_MAX_BYTES = 256 << 20,
	STRINGS_MAX_BYTES = 256 << 20,
	PAGE_BYTES = 4096,
	DEBUG_OFFSETS_CNT = 48, /* words of the interpreter's own table that are read */
};

enum symbol {
	SYMBOL_RUNTIME,
	SYMBOL_VERSION,
	SYMBOL_EVAL,
	SYMBOL_CODE,
	SYMBOL_STRING,
	SYMBOL_BYTES,
	SYMBOL_CNT,
};

static const char *const symbol_names[SYMBOL_CNT] = {
	[SYMBOL_RUNTIME] = "_PyRuntime",
	[SYMBOL_VERSION] = "Py_Version",
	[SYMBOL_EVAL] = "_PyEval_EvalFrameDefault",
	[SYMBOL_CODE] = "PyCode_Type",
	[SYMBOL_STRING] = "PyUnicode_Type",
	[SYMBOL_BYTES] = "PyBytes_Type",
};

struct known_version {
	uint32_t version;
	struct cp_python kernel;
	struct python_offsets offsets;
};

static const struct known_version known_versions[] = {
	{
		.version = 0x030b,
		.kernel = { .head = 40,
			    .interp_next = 0,
			    .interp_threads = 16,
			    .thread_next = 8,
			    .thread_id = 152,
			    .thread_frame = 56,
			    .holder_frame = 8,
			    .frame_code = 32,
			    .frame_previous = 48,
			    .frame_instr = 56,
			    .frame_owner = 69,
			    .frame_is_entry = 68 },
		.offsets = { .object_type = 8,
			     .var_size = 16,
			     .code_first_line = 72,
			     .code_filename = 112,
			     .code_qualname = 128,
			     .code_linetable = 136,
			     .code_instrs = 184,
			     .bytes_data = 32,
			     .string_length = 16,
			     .string_state = 32,
			     .string_ascii = 48,
			     .string_compact = 72 },
	},
	{
		.version = 0x030c,
		.kernel = { .head = 40,
			    .interp_next = 0,
			    .interp_threads = 72,
			    .thread_next = 8,
			    .thread_id = 136,
			    .thread_frame = 56,
			    .holder_frame = 0,
			    .frame_code = 0,
			    .frame_previous = 8,
			    .frame_instr = 56,
			    .frame_owner = 70,
			    .frame_is_entry = CP_PYTHON_NONE,
			    .owner_shim = 3 },
		.offsets = { .object_type = 8,
			     .var_size = 16,
			     .code_first_line = 68,
			     .code_filename = 112,
			     .code_qualname = 128,
			     .code_linetable = 136,
			     .code_instrs = 192,
			     .bytes_data = 32,
			     .string_length = 16,
			     .string_state = 32,
			     .string_ascii = 40,
			     .string_compact = 56 },
	},
};

/* Words of the table at the start of _PyRuntime of 3.13 (pycore_runtime.h, struct _Py_DebugOffsets). */
enum debug_offset {
	DEBUG_COOKIE = 0,
	DEBUG_VERSION = 1,
	DEBUG_FREE_THREADED = 2,
	DEBUG_RUNTIME_HEAD = 5,
	DEBUG_INTERP_NEXT = 8,
	DEBUG_INTERP_THREADS = 9,
	DEBUG_THREAD_NEXT = 21,
	DEBUG_THREAD_FRAME = 23,
	DEBUG_THREAD_ID = 24,
	DEBUG_FRAME_PREVIOUS = 29,
	DEBUG_FRAME_CODE = 30,
	DEBUG_FRAME_INSTR = 31,
	DEBUG_FRAME_OWNER = 33,
	DEBUG_CODE_FILENAME = 35,
	DEBUG_CODE_QUALNAME = 37,
	DEBUG_CODE_LINETABLE = 38,
	DEBUG_CODE_FIRST_LINE = 39,
	DEBUG_CODE_INSTRS = 43,
	DEBUG_OBJECT_TYPE = 45,
};

bool python_layout_is_candidate(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strncmp(name, "python3", 7) || !strncmp(name, "libpython3", 10);
}

static void find_in_table(const struct elf *e, uint32_t section_type, Elf64_Sym found[SYMBOL_CNT])
{
	const Elf64_Shdr *section = elf_section_by_type(e, section_type), *link;
	uint64_t symbols_bytes, strings_bytes;
	Elf64_Sym *symbols;
	char *strings;

	if (!section || section->sh_link >= e->section_cnt)
		return;
	link = &e->sections[section->sh_link];
	symbols = elf_section_copy(e, section, SYMBOLS_MAX_BYTES, &symbols_bytes);
	strings = elf_section_copy(e, link, STRINGS_MAX_BYTES, &strings_bytes);
	for (size_t i = 0; symbols && strings && i < symbols_bytes / sizeof(*symbols); i++) {
		const Elf64_Sym *s = &symbols[i];

		if (s->st_shndx == SHN_UNDEF || s->st_name >= strings_bytes)
			continue;
		for (size_t k = 0; k < SYMBOL_CNT; k++)
			if (!found[k].st_value && !strcmp(strings + s->st_name, symbol_names[k]))
				found[k] = *s;
	}
	free(symbols);
	free(strings);
}

/* What the file puts at an address. */
static bool read_vaddr(const struct elf *e, uint64_t vaddr, void *to, size_t len_bytes)
{
	for (size_t i = 0; i < e->phdr_cnt; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];
		uint64_t off_bytes = vaddr - p->p_vaddr;

		if (p->p_type != PT_LOAD || vaddr < p->p_vaddr || off_bytes >= p->p_filesz ||
		    len_bytes > p->p_filesz - off_bytes)
			continue;
		return image_read(&e->image, p->p_offset + off_bytes, to, len_bytes);
	}
	return false;
}

static bool find_segment(const struct elf *e, struct python_layout *l)
{
	for (size_t i = 0; i < e->phdr_cnt; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
		    l->kernel.eval_start < p->p_vaddr ||
		    l->kernel.eval_start - p->p_vaddr >= p->p_filesz)
			continue;
		l->segment_vaddr = p->p_vaddr;
		l->segment_off_bytes = p->p_offset;
		l->segment_size_bytes = p->p_filesz;
		return true;
	}
	return false;
}

/* A word of the table as an offset of up to 32 bits; what is larger stays too large for the check. */
static uint32_t offset_of(const uint64_t *words, enum debug_offset at)
{
	return words[at] < UINT32_MAX ? (uint32_t)words[at] : UINT32_MAX;
}

static uint16_t short_offset_of(const uint64_t *words, enum debug_offset at)
{
	return words[at] < CP_PYTHON_NONE ? (uint16_t)words[at] : CP_PYTHON_NONE;
}

static int read_debug_offsets(const struct elf *e, uint64_t runtime, struct python_layout *l)
{
	uint64_t w[DEBUG_OFFSETS_CNT];

	if (!read_vaddr(e, runtime, w, sizeof(w)) || memcmp(w, "xdebugpy", 8) != 0 ||
	    w[DEBUG_VERSION] >> 16 != l->version || w[DEBUG_FREE_THREADED])
		return -ENOTSUP;
	l->kernel = (struct cp_python){
		.head = offset_of(w, DEBUG_RUNTIME_HEAD),
		.interp_next = offset_of(w, DEBUG_INTERP_NEXT),
		.interp_threads = offset_of(w, DEBUG_INTERP_THREADS),
		.thread_next = short_offset_of(w, DEBUG_THREAD_NEXT),
		.thread_id = short_offset_of(w, DEBUG_THREAD_ID),
		.thread_frame = short_offset_of(w, DEBUG_THREAD_FRAME),
		.holder_frame = CP_PYTHON_NONE,
		.frame_code = short_offset_of(w, DEBUG_FRAME_CODE),
		.frame_previous = short_offset_of(w, DEBUG_FRAME_PREVIOUS),
		.frame_instr = short_offset_of(w, DEBUG_FRAME_INSTR),
		.frame_owner = short_offset_of(w, DEBUG_FRAME_OWNER),
		.frame_is_entry = CP_PYTHON_NONE,
		.owner_shim = 3,
	};
	l->offsets = known_versions[1].offsets; /* objects other than code: as in 3.12 */
	l->offsets.object_type = offset_of(w, DEBUG_OBJECT_TYPE);
	l->offsets.code_filename = offset_of(w, DEBUG_CODE_FILENAME);
	l->offsets.code_qualname = offset_of(w, DEBUG_CODE_QUALNAME);
	l->offsets.code_linetable = offset_of(w, DEBUG_CODE_LINETABLE);
	l->offsets.code_first_line = offset_of(w, DEBUG_CODE_FIRST_LINE);
	l->offsets.code_instrs = offset_of(w, DEBUG_CODE_INSTRS);
	return 0;
}

static int find_offsets(const struct elf *e, uint64_t runtime, struct python_layout *l)
{
	for (size_t i = 0; i < ARRAY_CNT(known_versions); i++) {
		if (known_versions[i].version != l->version)
			continue;
		l->kernel = known_versions[i].kernel;
		l->offsets = known_versions[i].offsets;
		return 0;
	}
	return l->version == 0x030d ? read_debug_offsets(e, runtime, l) : -ENOTSUP;
}

static int read_elf(const struct elf *e, struct python_layout *l, struct err *err)
{
	Elf64_Sym found[SYMBOL_CNT] = { 0 };
	uint64_t version = 0;
	int rc;

	find_in_table(e, SHT_DYNSYM, found);
	find_in_table(e, SHT_SYMTAB, found);
	if (!found[SYMBOL_RUNTIME].st_value || !found[SYMBOL_EVAL].st_value ||
	    !found[SYMBOL_VERSION].st_value ||
	    !read_vaddr(e, found[SYMBOL_VERSION].st_value, &version, sizeof(version)))
		return err_set(err, -ENOENT, "no Python interpreter of version 3.11 or later");
	l->version = (uint32_t)(version >> 16) & 0xffff;
	rc = find_offsets(e, found[SYMBOL_RUNTIME].st_value, l);
	if (rc)
		return err_set(err, rc, "Python %u.%u keeps its frames in a way that is not known",
			       l->version >> 8, l->version & 255);
	l->kernel.runtime = found[SYMBOL_RUNTIME].st_value;
	l->kernel.eval_start = found[SYMBOL_EVAL].st_value;
	l->kernel.eval_end = found[SYMBOL_EVAL].st_value + found[SYMBOL_EVAL].st_size;
	l->code_type = found[SYMBOL_CODE].st_value;
	l->string_type = found[SYMBOL_STRING].st_value;
	l->bytes_type = found[SYMBOL_BYTES].st_value;
	if (!find_segment(e, l) || !python_layout_check(l))
		return err_set(err, -ENOTSUP, "offsets of a Python interpreter that make no sense");
	return 0;
}

int python_layout_read(const struct image *image, struct python_layout *ret, struct err *err)
{
	struct elf e = { 0 };
	int rc;

	*ret = (struct python_layout){ 0 };
	rc = elf_open(&e, image);
	if (rc)
		rc = err_set(err, -ENOENT, "not an ELF file");
	else
		rc = read_elf(&e, ret, err);
	elf_close(&e);
	return rc;
}

static bool check_kernel(const struct cp_python *k)
{
	const uint32_t thread_last = CP_PYTHON_THREAD_BYTES - 8;
	const uint32_t frame_last = CP_PYTHON_FRAME_BYTES - 8;
	const uint32_t far = 16 << 20;
	const uint16_t words[] = { k->thread_next, k->thread_id,      k->thread_frame,
				   k->frame_code,  k->frame_previous, k->frame_instr };

	for (size_t i = 0; i < ARRAY_CNT(words); i++)
		if (words[i] % 8 || words[i] > (i < 3 ? thread_last : frame_last))
			return false;
	if (k->frame_owner > frame_last ||
	    (k->frame_is_entry != CP_PYTHON_NONE && k->frame_is_entry > frame_last) ||
	    (k->holder_frame != CP_PYTHON_NONE && k->holder_frame > thread_last))
		return false;
	return k->head <= far && k->interp_next <= far && k->interp_threads <= far &&
	       k->eval_start < k->eval_end;
}

bool python_layout_check(const struct python_layout *l)
{
	const struct python_offsets *o = &l->offsets;
	const uint32_t code[] = { o->code_filename, o->code_qualname, o->code_linetable,
				  o->code_first_line, o->var_size };
	const uint32_t string[] = { o->object_type, o->var_size, o->string_length, o->string_state,
				    o->string_ascii };

	if (o->code_instrs > PYTHON_CODE_MAX_BYTES ||
	    o->string_compact > PYTHON_STRING_HEAD_MAX_BYTES - 8 ||
	    o->bytes_data > PYTHON_STRING_HEAD_MAX_BYTES)
		return false;
	for (size_t i = 0; i < ARRAY_CNT(code); i++)
		if (code[i] > UINT32_MAX - 8 || code[i] + 8 > o->code_instrs)
			return false;
	for (size_t i = 0; i < ARRAY_CNT(string); i++)
		if (string[i] > o->string_compact)
			return false;
	return o->object_type <= o->var_size && o->var_size + 8 <= o->bytes_data && l->code_type &&
	       l->string_type && l->bytes_type && check_kernel(&l->kernel);
}

bool python_layout_move(struct python_layout *l, uint64_t start, uint64_t off_bytes)
{
	uint64_t first = l->segment_off_bytes & ~(uint64_t)(PAGE_BYTES - 1);
	uint64_t bias;

	if (off_bytes < first || off_bytes >= l->segment_off_bytes + l->segment_size_bytes)
		return false;
	bias = start - ((l->segment_vaddr & ~(uint64_t)(PAGE_BYTES - 1)) + (off_bytes - first));
	l->kernel.runtime += bias;
	l->kernel.eval_start += bias;
	l->kernel.eval_end += bias;
	l->code_type += bias;
	l->string_type += bias;
	l->bytes_type += bias;
	l->kernel.code_type = l->code_type;
	l->kernel.code_qualname = (uint16_t)l->offsets.code_qualname;
	l->kernel.code_linetable = (uint16_t)l->offsets.code_linetable;
	return true;
}

int python_sandbox_handler(struct sandbox_job *job, struct err *err)
{
	struct python_layout l;
	struct image image;
	int rc;

	if (job->fd_cnt != 1)
		return err_set(err, -EINVAL, "one file at a time");
	rc = image_from_fd(&image, job->fds[0]);
	if (!rc)
		rc = python_layout_read(&image, &l, err);
	if (!rc)
		buf_append(&job->reply, &l, sizeof(l));
	return rc;
}

int python_layout_remote(struct sandbox *s, int fd, struct python_layout *ret, struct err *err)
{
	const struct sandbox_request req = { .kind = SANDBOX_PYTHON, .fds = &fd, .fd_cnt = 1 };
	struct sandbox_reply reply;
	int rc = sandbox_run(s, &req, &reply, err);

	*ret = (struct python_layout){ 0 };
	if (rc)
		return rc;
	if (reply.len_bytes == sizeof(*ret))
		memcpy(ret, reply.data, sizeof(*ret));
	sandbox_reply_free(&reply);
	if (!python_layout_check(ret)) {
		*ret = (struct python_layout){ 0 };
		return err_set(err, -EPROTO, "offsets of a Python interpreter that make no sense");
	}
	return 0;
}
