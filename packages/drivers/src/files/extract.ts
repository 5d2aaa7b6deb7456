import type { ExtractedFile, SourceFile } from '@inlay/knowledge'
import { createBudget, type Budget, type ExtractionLimits } from './budget.ts'
import { charsetOf, decodeUnnamed, declaredCharset, isBinary, recodeUtf16 } from './encodings.ts'
import { readPicture } from './formats/picture.ts'
import { claimedContainer, containerOf, mediaTypes, officeKind, textKind, type FileKind } from './file-kind.ts'
import type { Pictures } from './pictures.ts'
import { refusal } from './refusals.ts'
import { factsOf, type Reading } from './sections.ts'
import { openZip, type Archive } from './zip.ts'

/** The bytes are transferred. @throws refusals of `refusals.ts`; any other error is a fault of a reader */
export async function extractFile(
  file: SourceFile,
  { limits, pictures }: { readonly limits: ExtractionLimits; readonly pictures: Pictures },
): Promise<ExtractedFile> {
  const { kind, reading } = await readFile(file, { budget: createBudget(limits), pictures }, 0)
  return { title: null, metadata: {}, ...reading, mediaType: mediaTypes[kind] }
}

/** Mails within mails, and documents within documents, are read this deep. */
const deepestFile = 2

interface FileReading {
  readonly kind: FileKind
  readonly reading: Reading
}

interface Costs {
  readonly budget: Budget
  readonly pictures: Pictures
}

async function readFile(file: SourceFile, costs: Costs, depth: number): Promise<FileReading> {
  if (file.bytes.byteLength === 0)
    throw refusal('empty', 'The file is empty (0 bytes): check that it was saved and sent completely.')
  const { budget } = costs
  const claimed = claimedContainer(file.name, file.mediaType)
  const container = containerOf(file.bytes, claimed)
  if (container === 'pdf')
    return { kind: 'pdf', reading: await (await import('./formats/pdf.ts')).readPdf(file.bytes, costs) }
  if (container === 'png' || container === 'jpeg')
    return { kind: container, reading: await readPicture(file.bytes, `image/${container}`, costs) }
  if (container === 'rtf')
    return { kind: 'rtf', reading: await (await import('./formats/rtf.ts')).readRtf(file.bytes, budget) }
  return container === 'zip' ? readOffice(file.bytes, costs, depth) : readText(file, { costs, claimed, depth })
}

function mislabelled(claimed: string): Error {
  return refusal(
    'broken',
    `The name says ${claimed}, but the content is damaged or something else: save it anew and send it again.`,
  )
}

async function readOffice(bytes: Uint8Array, costs: Costs, depth: number): Promise<FileReading> {
  const zip = openZip(bytes, costs.budget)
  const kind = officeKind(zip)
  const reading = await readParts(zip, kind, { costs, depth })
  if (zip.unread.size === 0) return { kind, reading }
  if (reading.sections.length === 0)
    throw refusal('broken', 'The parts of the file that hold its text are damaged: save it anew and send it again.')
  return {
    kind,
    reading: { ...reading, metadata: { ...reading.metadata, ...factsOf({ unreadable_parts: [...zip.unread] }) } },
  }
}

async function readParts(
  zip: Archive,
  kind: FileKind,
  { costs, depth }: { readonly costs: Costs; readonly depth: number },
): Promise<Reading> {
  const { budget } = costs
  switch (kind) {
    case 'docx':
      return (await import('./formats/docx.ts')).readDocx(zip, {
        budget,
        readEmbedded: async (name, bytes) => {
          if (depth >= deepestFile) throw refusal('unsupported', 'Documents are nested too deeply.')
          return (await readFile({ name, bytes }, costs, depth + 1)).reading
        },
      })
    case 'pptx':
      return (await import('./formats/pptx.ts')).readPptx(zip, budget)
    case 'odt':
    case 'ods':
    case 'odp':
      return (await import('./formats/odf.ts')).readOdf(zip, budget)
    case 'epub':
      return (await import('./formats/epub.ts')).readEpub(zip, budget)
    default:
      return (await import('./formats/xlsx.ts')).readXlsx(zip, budget)
  }
}

async function readText(
  file: SourceFile,
  { costs, claimed, depth }: { readonly costs: Costs; readonly claimed: string | undefined; readonly depth: number },
): Promise<FileReading> {
  const { name, mediaType, bytes } = file
  if (isBinary(bytes))
    throw claimed
      ? mislabelled(claimed)
      : refusal(
          'unsupported',
          'The file is neither text nor a document of a known format: send a PDF, Office or text file.',
        )
  const utf16 = recodeUtf16(bytes)
  // Kinds are told by ASCII letters, which other encodings share.
  const start =
    utf16 ??
    Buffer.from(bytes.subarray(0, 32_768))
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, '')
  const kind = textKind(start.slice(0, 32_768), name, mediaType)
  // A download that failed leaves an error message under the name of the document. Web pages and mails are read.
  if (claimed && kind !== 'html' && kind !== 'eml') throw mislabelled(claimed)
  if (kind === 'eml') {
    const readInner = async (innerName: string, type: string, inner: Uint8Array): Promise<Reading> => {
      if (depth >= deepestFile) throw refusal('unsupported', 'Mails are nested too deeply.')
      return (await readFile({ name: innerName, mediaType: type, bytes: inner }, costs, depth + 1)).reading
    }
    const mail = { budget: costs.budget, readsPictures: costs.pictures.step !== 'skip', readInner }
    const mailBytes = utf16 === undefined ? bytes : (await import('./formats/mail-encoding.ts')).recodedMail(utf16)
    return { kind, reading: await (await import('./formats/eml.ts')).readEml(mailBytes, mail) }
  }
  const { text, facts } = await decodeUnnamed(bytes, declaredCharset(bytes) ?? charsetOf(mediaType))
  const decoded = await readDecoded(kind, text, costs.budget)
  const { reading } = decoded
  return { ...decoded, reading: { ...reading, metadata: { ...reading.metadata, ...facts } } }
}

async function readDecoded(kind: FileKind, text: string, budget: Budget): Promise<FileReading> {
  switch (kind) {
    case 'html':
      return { kind, reading: (await import('./formats/html.ts')).readHtml(text, budget) }
    case 'csv':
      return { kind, reading: await (await import('./formats/csv.ts')).readCsv(text, budget) }
    case 'notebook': {
      const reading = (await import('./formats/notebook.ts')).readNotebook(text, budget)
      if (reading) return { kind, reading }
      return { kind: 'text', reading: (await import('./formats/plain-text.ts')).readPlainText(text, budget) }
    }
    case 'markdown':
      return { kind, reading: (await import('./formats/plain-text.ts')).readMarkdown(text, budget) }
    case 'rst':
      return { kind, reading: (await import('./formats/rst.ts')).readRst(text, budget) }
    default:
      return { kind, reading: (await import('./formats/plain-text.ts')).readPlainText(text, budget) }
  }
}
