import { createHash } from 'node:crypto'
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { strToU8, zipSync, type Zippable } from 'fflate'

/** Files made by hand, so that each test says what is in them. */

const encoder = new TextEncoder()

/** Bytes of a text as UTF-8. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Bytes of a text whose characters all are below 256. */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

/** A zip archive of texts and bytes. */
export function zip(parts: Record<string, string | Uint8Array>, level: 0 | 6 | 9 = 6): Uint8Array {
  const files: Zippable = {}
  for (const [name, content] of Object.entries(parts))
    files[name] = typeof content === 'string' ? strToU8(content) : content
  return zipSync(files, { level })
}

/** A zip archive by hand, whose directory may tell another size than a part has. */
export function forgedZip(parts: readonly { name: string; content: Uint8Array; toldBytes?: number }[]): Uint8Array {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, toldBytes = content.length } of parts) {
    const packed = deflateRawSync(content)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(8, 4)
    facts.writeUInt32LE(crc32(content), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(toldBytes, 18)
    facts.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('504b01021400', 'hex'), facts, place, Buffer.from(name))
    const file = Buffer.concat([Buffer.from('504b0304', 'hex'), facts, Buffer.from(name), packed])
    files.push(file)
    offset += file.length
  }
  const directoryBytes = directory.reduce((sum, piece) => sum + piece.length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(directoryBytes, 12)
  end.writeUInt32LE(offset, 16)
  return joinBytes([...files, ...directory, end])
}

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Relations of a part; `outside` ones are links. */
export function relations(list: readonly { id: string; type: string; target: string; outside?: true }[]): string {
  const each = list.map(
    ({ id, type, target, outside }) =>
      `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"${outside ? ' TargetMode="External"' : ''}/>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join('')}</Relationships>`
}

/** Core properties as office programs write them. */
export function coreProperties(inner: string): string {
  return `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${inner}</cp:coreProperties>`
}

const word =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

/** A Word document of a body; parts and links may be added. */
export function docx(
  body: string,
  more: {
    parts?: Record<string, string | Uint8Array>
    relations?: Parameters<typeof relations>[0]
    core?: string
  } = {},
): Uint8Array {
  return zip({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels': relations([{ id: 'rId1', type: 'officeDocument', target: 'word/document.xml' }]),
    'word/document.xml': `<?xml version="1.0" encoding="UTF-8"?><w:document ${word}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(more.relations ?? []),
    ...(more.core === undefined ? {} : { 'docProps/core.xml': coreProperties(more.core) }),
    ...more.parts,
  })
}

/** A part of Word's own namespace. */
export function wordPart(name: string, inner: string): string {
  return `<w:${name} ${word}>${inner}</w:${name}>`
}

/** A paragraph of Word, of a style if one is named. */
export function paragraph(text: string, style?: string): string {
  const properties = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
}

const drawing =
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

/** A shape of a slide with paragraphs; `kind` makes it a placeholder. */
export function shape(paragraphs: string, kind?: string): string {
  const place = kind === undefined ? '' : `<p:ph type="${kind}"/>`
  return `<p:sp><p:nvSpPr><p:nvPr>${place}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`
}

/** A paragraph of a slide. */
export function slideLine(text: string, properties = ''): string {
  return `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`
}

/** A presentation; slides are given in the order of the show, their files are numbered backwards. */
export function pptx(
  slides: readonly { tree: string; notes?: string; chart?: string; links?: Record<string, string>; isHidden?: true }[],
): Uint8Array {
  const parts: Record<string, string> = {}
  const number = (index: number): number => slides.length - index
  for (const [index, { tree, notes, chart, links = {}, isHidden }] of slides.entries()) {
    const file = number(index)
    parts[`ppt/slides/slide${file}.xml`] =
      `<p:sld ${drawing}${isHidden ? ' show="0"' : ''}><p:cSld><p:spTree>${tree}</p:spTree></p:cSld></p:sld>`
    const targets = Object.entries(links).map(([id, target]) => ({
      id,
      type: 'hyperlink',
      target,
      outside: true as const,
    }))
    const notesRelation =
      notes === undefined ? [] : [{ id: 'rIdN', type: 'notesSlide', target: `../notesSlides/notesSlide${file}.xml` }]
    const chartRelation =
      chart === undefined ? [] : [{ id: 'rIdC', type: 'chart', target: `../charts/chart${file}.xml` }]
    if (chart !== undefined) parts[`ppt/charts/chart${file}.xml`] = chart
    parts[`ppt/slides/_rels/slide${file}.xml.rels`] = relations([...targets, ...notesRelation, ...chartRelation])
    if (notes !== undefined)
      parts[`ppt/notesSlides/notesSlide${file}.xml`] =
        `<p:notes ${drawing}><p:cSld><p:spTree>${shape(slideLine('7'), 'sldNum')}${shape(slideLine(notes), 'body')}</p:spTree></p:cSld></p:notes>`
  }
  const ids = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
  return zip({
    '_rels/.rels': relations([{ id: 'rId1', type: 'officeDocument', target: 'ppt/presentation.xml' }]),
    'ppt/presentation.xml': `<p:presentation ${drawing}><p:sldIdLst>${ids.join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      slides.map((_, index) => ({ id: `rId${index + 1}`, type: 'slide', target: `slides/slide${number(index)}.xml` })),
    ),
    ...parts,
  })
}

/** A workbook of sheets given as the XML of their rows. */
export function xlsx(
  sheets: Readonly<Record<string, string>>,
  more: {
    strings?: string
    styles?: string
    workbook?: string
    core?: string
    /** Merged ranges, in each sheet. */
    merges?: readonly string[]
    /** Parts that the first sheet refers to. */
    sheetParts?: readonly { type: string; name: string; xml: string }[]
    /** `hidden` or `veryHidden`, by the name of a sheet. */
    states?: Readonly<Record<string, string>>
  } = {},
): Uint8Array {
  const names = Object.keys(sheets)
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
  const tabs = names.map((name, index) => {
    const state = more.states?.[name]
    return `<sheet name="${name}" sheetId="${index + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${index + 1}"/>`
  })
  const merges = (more.merges ?? []).map((ref) => `<mergeCell ref="${ref}"/>`).join('')
  return zip({
    '_rels/.rels': relations([{ id: 'rId1', type: 'officeDocument', target: 'xl/workbook.xml' }]),
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${office}">${more.workbook ?? ''}<sheets>${tabs.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...names.map((_, index) => ({
        id: `rId${index + 1}`,
        type: 'worksheet',
        target: `worksheets/sheet${index + 1}.xml`,
      })),
      { id: 'rIdS', type: 'sharedStrings', target: '/xl/sharedStrings.xml' },
      { id: 'rIdT', type: 'styles', target: 'styles.xml' },
    ]),
    'xl/worksheets/_rels/sheet1.xml.rels': relations(
      (more.sheetParts ?? []).map(({ type, name }, at) => ({ id: `rIdP${at}`, type, target: `/${name}` })),
    ),
    ...Object.fromEntries((more.sheetParts ?? []).map(({ name, xml }) => [name, xml])),
    'xl/sharedStrings.xml': `<sst ${main}>${more.strings ?? ''}</sst>`,
    'xl/styles.xml': `<styleSheet ${main}>${more.styles ?? ''}</styleSheet>`,
    ...(more.core === undefined ? {} : { 'docProps/core.xml': coreProperties(more.core) }),
    ...Object.fromEntries(
      Object.values(sheets).map((rows, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        `<worksheet ${main}><sheetData>${rows}</sheetData>${merges && `<mergeCells>${merges}</mergeCells>`}</worksheet>`,
      ]),
    ),
  })
}

/** Optional parts of a hand-made PDF besides its pages. */
export interface PdfParts {
  readonly info?: string
  /** Objects appended; the first has number `6 + 2 * pages`. */
  readonly objects?: readonly (string | Uint8Array)[]
  /** Entries of the catalog, e.g. `/Outlines …`. */
  readonly catalog?: string
  /** Entries of the trailer, e.g. `/Encrypt …`. */
  readonly trailer?: string
  readonly resources?: string
  readonly compressed?: true
  /** Changes the content of a stream, e.g. encrypts it; called with the object's number. */
  readonly encode?: (bytes: Uint8Array, objectNumber: number) => Uint8Array
}

/** A stream object; `entries` go into its dictionary. */
export function pdfStream(content: Uint8Array, entries = ''): Uint8Array {
  return joinBytes([latin1(`<</Length ${content.length}${entries}>>\nstream\n`), content, latin1('\nendstream')])
}

/** A PDF whose pages are content streams in US Letter; the fonts F1 (Helvetica) and F2 (Helvetica bold) are there. */
export function pdf(pages: readonly string[], parts: PdfParts = {}): Uint8Array {
  const pageNumber = (index: number): number => 6 + 2 * index
  const objects: (string | Uint8Array)[] = [
    `<</Type/Catalog/Pages 2 0 R${parts.catalog ?? ''}>>`,
    `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, index) => `${pageNumber(index)} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>',
    `<<${parts.info ?? ''}>>`,
  ]
  for (const [index, page] of pages.entries()) {
    const number = pageNumber(index)
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${number + 1} 0 R/Resources<</Font<</F1 3 0 R/F2 4 0 R>>${parts.resources ?? ''}>>>>`,
    )
    const plain = parts.compressed ? deflateSync(latin1(page)) : latin1(page)
    const content = parts.encode?.(plain, number + 1) ?? plain
    objects.push(pdfStream(content, parts.compressed ? '/Filter/FlateDecode' : ''))
  }
  return pdfOf([...objects, ...(parts.objects ?? [])], parts.trailer)
}

function pdfOf(objects: readonly (string | Uint8Array)[], trailer = ''): Uint8Array {
  const pieces = [latin1('%PDF-1.6\n%\xe2\xe3\xcf\xd3\n')]
  const offsets: number[] = []
  let length = pieces[0]!.length
  const push = (bytes: Uint8Array): void => {
    pieces.push(bytes)
    length += bytes.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(length)
    push(latin1(`${index + 1} 0 obj\n`))
    push(typeof object === 'string' ? latin1(object) : object)
    push(latin1('\nendobj\n'))
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<</Size ${objects.length + 1}/Root 1 0 R/Info 5 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`
  push(latin1(end))
  return joinBytes(pieces)
}

/** Lines of text at places: [x, y, size, text]. */
export function pdfText(lines: readonly (readonly [x: number, y: number, size: number, text: string])[]): string {
  const escape = (text: string): string => text.replace(/[\\()]/g, '\\$&')
  return lines.map(([x, y, size, text]) => `BT /F1 ${size} Tf ${x} ${y} Td (${escape(text)}) Tj ET`).join('\n')
}

/** Parts for `pdf` that protect it so that no password is asked for reading (40-bit RC4, as old printers' drivers do). */
export function restrictedPdf(): Pick<PdfParts, 'trailer' | 'encode'> {
  const padding = Buffer.from('28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A', 'hex')
  const id = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
  const owner = rc4(md5(padding).subarray(0, 5), padding)
  const permissions = Buffer.from([0xc0, 0xff, 0xff, 0xff])
  const key = md5(Buffer.concat([padding, owner, permissions, id])).subarray(0, 5)
  const user = rc4(key, padding)
  const hex = (bytes: Uint8Array): string => `<${Buffer.from(bytes).toString('hex')}>`
  return {
    trailer: `/ID[${hex(id)}${hex(id)}]/Encrypt<</Filter/Standard/V 1/R 2/O ${hex(owner)}/U ${hex(user)}/P -64>>`,
    encode: (bytes, number) =>
      rc4(md5(Buffer.concat([key, Buffer.from([number & 255, number >> 8, 0, 0, 0])])).subarray(0, 10), bytes),
  }
}

/** A trailer for `pdf` that asks for a password nobody knows. */
export const passwordTrailer: string = `/ID[<${'00'.repeat(16)}><${'00'.repeat(16)}>]/Encrypt<</Filter/Standard/V 1/R 2/O <${'ab'.repeat(32)}>/U <${'cd'.repeat(32)}>/P -64>>`

function md5(bytes: Uint8Array): Buffer {
  return createHash('md5').update(bytes).digest()
}

function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index)
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) & 255
    ;[state[i], state[j]] = [state[j]!, state[i]!]
  }
  const output = Buffer.from(data)
  let i = 0
  let j = 0
  for (const [at, byte] of output.entries()) {
    i = (i + 1) & 255
    j = (j + state[i]!) & 255
    ;[state[i], state[j]] = [state[j]!, state[i]!]
    output[at] = byte ^ state[(state[i]! + state[j]!) & 255]!
  }
  return output
}

/** Several byte arrays as one. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
