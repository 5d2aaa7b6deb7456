import type { TextDocument } from '../service/service.ts'

/** A document of a typed or pasted text; the same title again replaces it. */
export function typedDocument(title: string, text: string): TextDocument {
  const named = title.trim() || headingOf(text) || firstWords(text)
  return { id: `page/${named}`, title: named, text }
}

function headingOf(text: string): string | undefined {
  const heading = /^#{1,2}[ \t]+([^ \t\n].*)$/m.exec(text.slice(0, 10_000))?.[1]
  return heading?.replace(/(?<![ \t#])[ \t#]+$/, '').slice(0, 200) || undefined
}

function firstWords(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length <= 60 ? line : `${line.slice(0, 60).replace(/(?<!\s)\s+\S*$/, '')} …`
}
