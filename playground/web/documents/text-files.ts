import type { TextDocument } from '../service/service.ts'

/** Largest file the page reads, in bytes; larger ones are for the command line. */
const limitBytes = 5_000_000

/** What a dropped, chosen or pasted file becomes: a document, or words that say why it cannot. */
export type FileReading = { readonly document: TextDocument } | { readonly refusal: string }

/** Endings the page reads; browsers know no media type for most of them. */
export const textEndings: readonly string[] = ['.md', '.markdown', '.txt', '.text', '.csv', '.log', '.rst', '.adoc']

/** Reads a text or Markdown file. The file's name is the document's id, so that dropping it again replaces it. */
export async function readTextFile(file: File): Promise<FileReading> {
  const isText = textEndings.some((ending) => file.name.toLowerCase().endsWith(ending)) || file.type.startsWith('text/')
  if (!isText) return { refusal: `${file.name} is not a text or Markdown file.` }
  if (file.size > limitBytes) return { refusal: `${file.name} is larger than 5 MB; use "inlay ingest" for it.` }
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { refusal: `${file.name} is not UTF-8 text.` }
  }
  if (text.includes('\0')) return { refusal: `${file.name} is not a text file.` }
  return { document: { id: `page/${file.name}`, title: titleOf(text) ?? file.name, text } }
}

/** A document of a typed or pasted text; the same title again replaces it. */
export function typedDocument(title: string, text: string): TextDocument {
  const named = title.trim() || titleOf(text) || firstWords(text)
  return { id: `page/${named}`, title: named, text }
}

/** The first heading of a Markdown text. */
function titleOf(text: string): string | undefined {
  const heading = /^#{1,2}[ \t]+(.+?)[ \t#]*$/m.exec(text.slice(0, 10_000))?.[1]
  return heading?.trim().slice(0, 200) || undefined
}

function firstWords(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length <= 60 ? line : `${line.slice(0, 60).replace(/\s+\S*$/, '')} …`
}
