// oxlint-disable no-control-regex -- magic numbers are control characters
import { isBinary } from './encodings.ts'
import { refusal } from './refusals.ts'
import type { Archive } from './zip.ts'

/** Media type by kind; a text file of a more exact type keeps that one. */
export const mediaTypes = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv',
  html: 'text/html',
  markdown: 'text/markdown',
  rst: 'text/x-rst',
  eml: 'message/rfc822',
  epub: 'application/epub+zip',
  notebook: 'application/x-ipynb+json',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  rtf: 'application/rtf',
  png: 'image/png',
  jpeg: 'image/jpeg',
  text: 'text/plain',
} as const

export type FileKind = keyof typeof mediaTypes

/**
 * By the first bytes. @throws refusal `unsupported` or `encrypted` for a known but unsupported kind, with an
 * alternative
 */
export function containerOf(bytes: Uint8Array, claimed?: string): 'pdf' | 'zip' | 'rtf' | 'png' | 'jpeg' | 'text' {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1100)).toString('latin1')
  if (/^PK(?:\x03\x04|\x05\x06)/.test(start)) return 'zip'
  // Junk before the header is allowed, and common in downloads; a text that only speaks of PDFs is not binary.
  const header = start.search(/%PDF-\d/)
  if (header === 0 || (header > 0 && (claimed === '.pdf' || isBinary(bytes)))) return 'pdf'
  if (/^\s*\{\\rtf/.test(start)) return 'rtf'
  if (start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) throw refusalForOle(bytes)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  const known = unread.find(({ magic }) => magic.test(start))
  if (known) throw refusal('unsupported', known.message)
  return 'text'
}

const archive = 'The file is an archive: unpack it and send the documents in it one by one.'
const image =
  'Images of this kind are not read: save it as PNG or JPEG, whose text is read when OCR is on (INLAY_OCR), or send a document.'
const media = 'The file is a recording: send a transcript of it.'
const program = 'The file is a program: only documents are read.'

const unread: readonly { magic: RegExp; message: string }[] = [
  { magic: /^(?:\x1f\x8b|BZh\d1AY|7z\xbc\xaf|Rar!\x1a|\xfd7zXZ|\x28\xb5\x2f\xfd)/, message: archive },
  { magic: /^.{257}ustar/s, message: archive },
  { magic: /^(?:GIF8\da|II\*\0|MM\0\*|RIFF.{4}WEBP|\0\0\x01\0|BM.{4}\0{4})/s, message: image },
  { magic: /^.{4}ftyp(?:heic|heix|mif1|avif)/s, message: image },
  {
    magic: /^(?:.{4}ftyp|ID3[\x02-\x04]|OggS\0|RIFF.{4}(?:WAVE|AVI )|fLaC\0|\x1a\x45\xdf\xa3|\xff[\xfb\xf3])/s,
    message: media,
  },
  { magic: /^(?:MZ.{1,60}\0{3}|\x7fELF|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|\0asm)/s, message: program },
  { magic: /^SQLite format 3\0/, message: 'The file is a database: export what matters as .csv or .xlsx.' },
]

/** The old container of Office: encrypted new files are wrapped in it too. Its directory holds names in UTF-16. */
function refusalForOle(bytes: Uint8Array): Error {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const holds = (name: string): boolean => content.includes(Buffer.from(name, 'utf16le'))
  if (holds('EncryptedPackage'))
    return refusal('encrypted', 'The file is protected by a password: remove the password and send it again.')
  if (holds('__substg1.0_')) return refusal('unsupported', 'Outlook messages are not read: save the mail as .eml.')
  return refusal('unsupported', 'Old Office formats (.doc, .xls, .ppt) are not read: save it as .docx, .xlsx or .pptx.')
}

/** By the parts of the file. @throws refusal `unsupported` for any other archive */
export function officeKind(zip: Archive): FileKind {
  if (zip.has('word/document.xml')) return 'docx'
  if (zip.has('ppt/presentation.xml')) return 'pptx'
  if (zip.has('xl/workbook.xml')) return 'xlsx'
  if (isEpub(zip)) return 'epub'
  const openDocument = openDocumentKind(zip)
  if (openDocument) return openDocument
  if (zip.has('xl/workbook.bin'))
    throw refusal('unsupported', 'Binary workbooks (.xlsb) are not read: save it as .xlsx.')
  const types = zip.has('[Content_Types].xml') ? new TextDecoder().decode(zip.read('[Content_Types].xml')) : ''
  for (const [kind, pattern] of [
    [
      'docx',
      /word(?:processingml)?\.(?:document|template|document\.macroEnabled|template\.macroEnabledTemplate)\.main/,
    ],
    ['pptx', /presentationml\.(?:presentation|slideshow|template)\.main/],
    ['xlsx', /spreadsheetml\.(?:sheet|template)\.main/],
  ] as const)
    if (pattern.test(types)) return kind
  if (zip.has('mimetype') || zip.has('META-INF/container.xml') || zip.has('Index/Document.iwa'))
    throw refusal('unsupported', 'This format is not read: save the file as .docx, .xlsx, .pptx or PDF and send that.')
  throw refusal('unsupported', archive)
}

/** Texts, spreadsheets and presentations of OpenDocument, templates and master documents too. */
function openDocumentKind(zip: Archive): 'odt' | 'ods' | 'odp' | undefined {
  if (!zip.has('mimetype') || !zip.has('content.xml')) return undefined
  const type = new TextDecoder().decode(zip.read('mimetype')).trim()
  const [, kind] = /^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)/.exec(type) ?? []
  if (kind === undefined) return undefined
  return kind === 'text' ? 'odt' : kind === 'spreadsheet' ? 'ods' : 'odp'
}

function isEpub(zip: Archive): boolean {
  if (!zip.has('mimetype') || !zip.has('META-INF/container.xml')) return false
  return new TextDecoder().decode(zip.read('mimetype')).trim() === mediaTypes.epub
}

const kindsByExtension: Readonly<Record<string, FileKind>> = {
  csv: 'csv',
  tsv: 'csv',
  htm: 'html',
  html: 'html',
  xhtml: 'html',
  md: 'markdown',
  mdx: 'markdown',
  markdown: 'markdown',
  mkd: 'markdown',
  rst: 'rst',
  eml: 'eml',
  mht: 'eml',
  mhtml: 'eml',
  ipynb: 'notebook',
}

const kindsByMediaType: Readonly<Record<string, FileKind>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/x-rst': 'rst',
  'text/prs.fallenstein.rst': 'rst',
  'message/rfc822': 'eml',
}

const containers: readonly FileKind[] = ['pdf', 'docx', 'pptx', 'xlsx', 'epub', 'odt', 'ods', 'odp', 'png', 'jpeg']
const otherExtensions = ['docm', 'dotx', 'dotm', 'pptm', 'ppsx', 'potx', 'xlsm', 'xltx', 'ott', 'jpg']
const binaryExtensions: ReadonlySet<string> = new Set([...containers, ...otherExtensions])
const officeExtension = /^(?:doc|xls|ppt)[xmb]?$/

/** E.g. `.docx`, by the name, or by the media type if the name has no extension; undefined for what may be text. */
export function claimedContainer(name: string, mediaType: string | undefined): string | undefined {
  const extension = extensionOf(name)
  if (extension !== '') return binaryExtensions.has(extension) ? `.${extension}` : undefined
  const kind = containers.find((each) => mediaTypes[each] === typeOf(mediaType))
  return kind && `.${kind}`
}

const extensionOf = (name: string): string => /\.([a-z\d]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
const typeOf = (mediaType: string | undefined): string => mediaType?.split(';')[0]?.trim().toLowerCase() ?? ''

// The patterns below read each character in one way only: a file may be made to have them try all others.

/** By an unambiguous beginning, else the name, else the media type. @throws refusal `unsupported` for a mailbox */
export function textKind(start: string, name: string, mediaType: string | undefined): FileKind {
  if (/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(start))
    return 'html'
  const extension = extensionOf(name)
  // Web applications export bare tables under the names of Office.
  if (officeExtension.test(extension) && /^\s*<(?:table|meta|style|title|div|p|h[1-6]|center|font)\b/i.test(start))
    return 'html'
  const named = kindsByExtension[extension]
  if (named) return named
  if (isMailbox(start)) throw refusal('unsupported', 'The file is a mailbox: export its mails as .eml files.')
  if (looksLikeMail(start)) return 'eml'
  // A name such as notes.txt is as specific as the extensions above.
  return extension === 'txt' ? 'text' : (kindsByMediaType[typeOf(mediaType)] ?? 'text')
}

/** It begins with `From ann@example.com Fri May  3 10:00:00 2024`, then its first mail. */
function isMailbox(start: string): boolean {
  const [first = '', second = ''] = start.slice(0, 2000).split(/\r?\n/, 2)
  return /^From \S.*\d{1,2}:\d{2}/.test(first) && /^[\w-]+:/.test(second)
}

/** A mail begins with header lines, several of those that only mails have among them. */
function looksLikeMail(start: string): boolean {
  const header = /^(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+(?=\r?\n)/.exec(start.slice(0, 16_000))?.[0] ?? ''
  const names = new Set(
    [...header.matchAll(/^(from|to|subject|date|message-id|mime-version|received|return-path):/gim)].map((match) =>
      match[1]!.toLowerCase(),
    ),
  )
  return (
    names.has('from') &&
    names.size >= 3 &&
    (names.has('message-id') || names.has('mime-version') || names.has('received'))
  )
}
