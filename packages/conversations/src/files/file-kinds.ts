import type { FileKind } from '@inlay/protocol'

/** Media types by extension. What a browser says of a file depends on the machine it runs on, the extension does not. */
const byExtension: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  eml: 'message/rfc822',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  rtf: 'application/rtf',
  epub: 'application/epub+zip',
  ipynb: 'application/x-ipynb+json',
  md: 'text/markdown',
  markdown: 'text/markdown',
  mdx: 'text/markdown',
  htm: 'text/html',
  html: 'text/html',
  xhtml: 'application/xhtml+xml',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
}

export const unknownMediaType = 'application/octet-stream'

const mediaTypeForm = /^[a-z0-9][\w.+-]{0,80}\/[a-z0-9][\w.+-]{0,120}$/

/** The media type of a file by its name, else by what its sender says; `application/octet-stream` when neither tells. */
export function mediaTypeOf(name: string, claimed: string): string {
  const extension = /\.([a-z\d]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const known = Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined
  const bare = claimed.split(';')[0]?.trim().toLowerCase() ?? ''
  return known ?? (mediaTypeForm.test(bare) ? bare : unknownMediaType)
}

const images = new Set(['image/jpg', 'image/jpeg', 'image/png', 'image/webp'])
const tables = /^text\/(?:csv|tab-separated-values)$|spreadsheet|ms-excel/
const documents =
  /^application\/(?:pdf|msword|vnd\.ms-powerpoint|epub\+zip|rtf)$|wordprocessingml|opendocument\.text|presentation|^message\/rfc822$/

/** How a file is given to a model, by its media type. */
export function kindOf(mediaType: string): FileKind {
  if (images.has(mediaType)) return 'image'
  if (tables.test(mediaType)) return 'tabular'
  return documents.test(mediaType) ? 'document' : 'plain_text'
}

/** The type of a picture by its first bytes (12 are enough); undefined when it is none that models take. */
export function imageTypeOf(start: Uint8Array): string | undefined {
  const text = String.fromCharCode(...start.subarray(0, 12))
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  return /^RIFF[\s\S]{4}WEBP/.test(text) ? 'image/webp' : undefined
}

/** A name fit for showing and for a header: without folders and control characters, 255 characters at most. */
export function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  // oxlint-disable-next-line no-control-regex -- they would break lines of headers and prompts
  const clean = last.replace(/[\0-\x1f\x7f\u2028\u2029]/g, ' ').trim()
  return (clean.toWellFormed() || 'file').slice(0, 255).toWellFormed()
}
