/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Program and section headers; see rows_elf.h. */
#include "symbolize/rows_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "user/base/mem.h"

enum {
	SHSTRTAB_MAX_BYTES = 1 << 20,
	EH_FRAME_PTR_OFF = 4, /* in .eh_frame_hdr: after version and three encodings */
};

int rows_source_read(const struct rows_source *s, uint64_t off_bytes, uint64_t size_bytes,
		     struct rows_bytes *ret, struct err *err)
{
	size_t done = 0;

	*ret = (struct rows_bytes){ 0 };
	if (off_bytes > s->size_bytes || size_bytes > s->size_bytes - off_bytes)
		return err_set(err, -ENOEXEC, "a header points outside of the file");
	ret->len_bytes = size_bytes;
	if (s->mem) {
		ret->data = s->mem + off_bytes;
		return 0;
	}
	ret->owned = xmalloc(size_bytes);
	ret->data = ret->owned;
	while (done < size_bytes) {
		ssize_t n = pread(s->fd, (uint8_t *)ret->owned + done, size_bytes - done,
				  (off_t)(off_bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int rc = n < 0 ? err_errno(err, "cannot read the file") :
					 err_set(err, -EIO, "the file became shorter");

			rows_bytes_free(ret);
			return rc;
		}
		done += (size_t)n;
	}
	return 0;
}

void rows_bytes_free(struct rows_bytes *b)
{
	free(b->owned);
	*b = (struct rows_bytes){ 0 };
}

static int check_ident(const Elf64_Ehdr *eh, struct err *err)
{
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, -ENOEXEC, "not an ELF file");
	if (eh->e_ident[EI_CLASS] != ELFCLASS64)
		return err_set(err, -ENOEXEC, "not a 64-bit ELF file");
	if (eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, -ENOEXEC, "not a little-endian ELF file");
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return err_set(err, -ENOEXEC, "not an executable or shared library");
	return 0;
}

static int segment_cmp(const void *a, const void *b)
{
	const struct rows_segment *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Without section headers the unwind information is found through .eh_frame_hdr, which the program
 * headers know: it holds the address of .eh_frame, relative to the place where that stands. */
static void find_by_phdr(struct rows_elf *elf, const Elf64_Phdr *hdr, const Elf64_Phdr *phdrs,
			 size_t cnt)
{
	static const uint8_t pcrel_sdata4 = 0x1b;
	struct rows_bytes head;
	uint64_t vaddr;
	int32_t delta;

	if (rows_source_read(&elf->source, hdr->p_offset, EH_FRAME_PTR_OFF + 4, &head, NULL))
		return;
	memcpy(&delta, head.data + EH_FRAME_PTR_OFF, sizeof(delta));
	if (head.data[0] == 1 && head.data[1] == pcrel_sdata4) {
		vaddr = hdr->p_vaddr + EH_FRAME_PTR_OFF + (uint64_t)(int64_t)delta;
		for (size_t i = 0; i < cnt; i++) {
			uint64_t off = vaddr - phdrs[i].p_vaddr;

			if (phdrs[i].p_type != PT_LOAD || off >= phdrs[i].p_filesz)
				continue;
			elf->sections[elf->section_cnt++] = (struct rows_section){
				.kind = ROWS_EH_FRAME,
				.vaddr = vaddr,
				.off_bytes = phdrs[i].p_offset + off,
				.size_bytes = phdrs[i].p_filesz - off,
			};
			break;
		}
	}
	rows_bytes_free(&head);
}

static int read_segments(struct rows_elf *elf, const Elf64_Phdr *phdrs, size_t cnt, struct err *err)
{
	for (size_t i = 0; i < cnt; i++) {
		const Elf64_Phdr *p = &phdrs[i];
		uint64_t end;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_filesz)
			continue;
		if (elf->segment_cnt == ROWS_SEGMENT_MAX)
			return err_set(err, -E2BIG, "more than %d executable segments",
				       ROWS_SEGMENT_MAX);
		if (p->p_offset > elf->source.size_bytes ||
		    p->p_filesz > elf->source.size_bytes - p->p_offset ||
		    __builtin_add_overflow(p->p_vaddr, p->p_filesz, &end))
			return err_set(err, -ENOEXEC, "a segment lies outside of the file");
		elf->segments[elf->segment_cnt++] = (struct rows_segment){
			.vaddr = p->p_vaddr, .off_bytes = p->p_offset, .size_bytes = p->p_filesz
		};
	}
	qsort(elf->segments, elf->segment_cnt, sizeof(elf->segments[0]), segment_cmp);
	return 0;
}

static int read_phdrs(struct rows_elf *elf, const Elf64_Ehdr *eh, struct rows_bytes *ret,
		      struct err *err)
{
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == PN_XNUM)
		return err_set(err, -ENOEXEC, "no usable program headers");
	return rows_source_read(&elf->source, eh->e_phoff,
				(uint64_t)eh->e_phnum * sizeof(Elf64_Phdr), ret, err);
}

static bool name_is(const struct rows_bytes *names, uint32_t off, const char *want)
{
	size_t len_bytes = strlen(want) + 1;

	return off < names->len_bytes && len_bytes <= names->len_bytes - off &&
	       memcmp(names->data + off, want, len_bytes) == 0;
}

/* Which of the sections that matter this is, or -1. */
static int section_kind(const Elf64_Shdr *sh, const struct rows_bytes *names)
{
	static const char *const plts[] = { ".plt", ".plt.got", ".plt.sec", ".iplt", ".plt.bnd" };

	if (sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL)
		return -1;
	if (name_is(names, sh->sh_name, ".eh_frame"))
		return ROWS_EH_FRAME;
	if (name_is(names, sh->sh_name, ".debug_frame"))
		return ROWS_DEBUG_FRAME;
	for (size_t i = 0; i < ARRAY_CNT(plts) && (sh->sh_flags & SHF_EXECINSTR); i++)
		if (name_is(names, sh->sh_name, plts[i]))
			return ROWS_PLT;
	return -1;
}

static void add_sections(struct rows_elf *elf, const struct rows_bytes *headers,
			 const struct rows_bytes *names)
{
	for (size_t i = 0; i < headers->len_bytes / sizeof(Elf64_Shdr); i++) {
		Elf64_Shdr sh;
		int kind;

		memcpy(&sh, headers->data + i * sizeof(sh), sizeof(sh));
		kind = section_kind(&sh, names);
		if (kind < 0 || elf->section_cnt == ROWS_SECTION_CNT_MAX)
			continue;
		elf->sections[elf->section_cnt++] = (struct rows_section){
			.kind = (enum rows_section_kind)kind,
			.is_compressed = sh.sh_flags & SHF_COMPRESSED,
			.vaddr = sh.sh_addr,
			.off_bytes = sh.sh_offset,
			.size_bytes = sh.sh_size,
		};
	}
}

/* Damaged or absent section headers are no error: the program headers lead to .eh_frame as well. */
static void read_sections(struct rows_elf *elf, const Elf64_Ehdr *eh)
{
	struct rows_bytes headers, names;
	Elf64_Shdr sh;

	if (!eh->e_shnum || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    eh->e_shstrndx >= eh->e_shnum ||
	    rows_source_read(&elf->source, eh->e_shoff, (uint64_t)eh->e_shnum * sizeof(sh),
			     &headers, NULL))
		return;
	memcpy(&sh, headers.data + (size_t)eh->e_shstrndx * sizeof(sh), sizeof(sh));
	if (sh.sh_type == SHT_STRTAB && sh.sh_size <= SHSTRTAB_MAX_BYTES &&
	    !rows_source_read(&elf->source, sh.sh_offset, sh.sh_size, &names, NULL)) {
		add_sections(elf, &headers, &names);
		rows_bytes_free(&names);
	}
	rows_bytes_free(&headers);
}

static bool has_kind(const struct rows_elf *elf, enum rows_section_kind kind)
{
	for (uint32_t i = 0; i < elf->section_cnt; i++)
		if (elf->sections[i].kind == kind)
			return true;
	return false;
}

int rows_elf_read(struct rows_source source, struct rows_elf *ret, struct err *err)
{
	struct rows_bytes bytes;
	const Elf64_Phdr *phdrs;
	Elf64_Ehdr eh;
	int rc;

	*ret = (struct rows_elf){ .source = source };
	if (source.size_bytes < sizeof(eh))
		return err_set(err, -ENOEXEC, "not an ELF file");
	rc = rows_source_read(&source, 0, sizeof(eh), &bytes, err);
	if (rc)
		return rc;
	memcpy(&eh, bytes.data, sizeof(eh));
	rows_bytes_free(&bytes);
	rc = check_ident(&eh, err);
	if (rc)
		return rc;
	ret->machine = eh.e_machine;
	ret->entry_vaddr = eh.e_entry;
	rc = read_phdrs(ret, &eh, &bytes, err);
	if (rc)
		return rc;
	/* a copy: in memory they may lie at any address */
	phdrs = memcpy(xmalloc(bytes.len_bytes), bytes.data, bytes.len_bytes);
	rows_bytes_free(&bytes);
	rc = read_segments(ret, phdrs, eh.e_phnum, err);
	if (!rc)
		read_sections(ret, &eh);
	for (size_t i = 0; !rc && i < eh.e_phnum; i++) {
		if (phdrs[i].p_type != PT_GNU_EH_FRAME || ret->eh_frame_hdr_vaddr)
			continue;
		ret->eh_frame_hdr_vaddr = phdrs[i].p_vaddr;
		if (!has_kind(ret, ROWS_EH_FRAME) && ret->section_cnt < ROWS_SECTION_CNT_MAX)
			find_by_phdr(ret, &phdrs[i], phdrs, eh.e_phnum);
	}
	free((void *)phdrs);
	return rc;
}

static int inflate_section(struct rows_bytes *b, struct err *err)
{
	Elf64_Chdr ch;
	uLongf out_bytes;
	uint8_t *out;

	if (b->len_bytes < sizeof(ch))
		return err_set(err, -ENOEXEC, "a compressed section is cut off");
	memcpy(&ch, b->data, sizeof(ch));
	if (ch.ch_type != ELFCOMPRESS_ZLIB)
		return err_set(err, -ENOEXEC, "a section is compressed in an unknown way (%u)",
			       ch.ch_type);
	if (ch.ch_size > ROWS_SECTION_MAX_BYTES)
		return err_set(err, -E2BIG, "a compressed section claims %llu bytes",
			       (unsigned long long)ch.ch_size);
	out_bytes = ch.ch_size;
	out = xmalloc(out_bytes);
	if (uncompress(out, &out_bytes, b->data + sizeof(ch), b->len_bytes - sizeof(ch)) != Z_OK) {
		free(out);
		return err_set(err, -ENOEXEC, "a compressed section is damaged");
	}
	rows_bytes_free(b);
	*b = (struct rows_bytes){ .data = out, .len_bytes = out_bytes, .owned = out };
	return 0;
}

int rows_section_read(const struct rows_elf *elf, const struct rows_section *section,
		      struct rows_bytes *ret, struct err *err)
{
	int rc;

	*ret = (struct rows_bytes){ 0 };
	if (section->size_bytes > ROWS_SECTION_MAX_BYTES)
		return err_set(err, -E2BIG, "an unwind section has more than %d MiB",
			       ROWS_SECTION_MAX_BYTES >> 20);
	rc = rows_source_read(&elf->source, section->off_bytes, section->size_bytes, ret, err);
	if (!rc && section->is_compressed)
		rc = inflate_section(ret, err);
	if (rc)
		rows_bytes_free(ret);
	return rc;
}
