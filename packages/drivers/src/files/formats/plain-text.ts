import type { Budget } from '../budget.ts'
import { cleanText } from '../encodings.ts'
import { partFrontMatter } from './front-matter.ts'
import { oneLine, sectionsOf, type Reading } from '../sections.ts'

export function readPlainText(text: string, budget: Budget): Reading {
  return { sections: sectionsOf(text, budget) }
}

/** Reads a Markdown file: the front matter becomes title, dates and metadata, the rest stays Markdown. */
export function readMarkdown(text: string, budget: Budget): Reading {
  const { title, facts, createdAt, updatedAt, body } = partFrontMatter(cleanText(text))
  return {
    title: title === null ? firstHeading(body) : oneLine(title),
    sections: sectionsOf(body, budget),
    metadata: facts,
    createdAt,
    updatedAt,
  }
}

/** The first heading of the first level, `# Title` or underlined with `=`; fenced code is passed over. */
function firstHeading(body: string): string | null {
  let fence: string | undefined
  let before = ''
  const beginning = body.slice(0, 20_000)
  for (const line of withoutComments(beginning).split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark && (fence === undefined || mark.startsWith(fence))) fence = fence === undefined ? mark : undefined
    else if (fence === undefined) {
      const [, title = ''] = /^ {0,3}#\s(.*)$/.exec(line) ?? []
      const heading = title
        .trim()
        .replace(/(?:^|\s)#+$/, '')
        .trim()
      if (heading) return withoutMarks(heading)
      if (/^=+\s*$/.test(line) && before.trim() !== '') return withoutMarks(before)
    }
    before = line
  }
  return null
}

/** Not a regular expression: it would scan to the end for each comment that is never closed. */
function withoutComments(text: string): string {
  let kept = ''
  for (let at = 0; ;) {
    const start = text.indexOf('<!--', at)
    if (start === -1) return kept + text.slice(at)
    const end = text.indexOf('-->', start)
    kept += text.slice(at, start)
    if (end === -1) return kept
    at = end + 3
  }
}

function withoutMarks(heading: string): string {
  const plain = heading.replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1').replace(/\{#[^{}]*\}\s*$/, '')
  return oneLine(plain.replace(/[`*]/g, ''))
}
