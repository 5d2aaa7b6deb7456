import { readFileSync } from 'node:fs'

/** A code block of the docs that says which file it is. */
export interface Recipe {
  readonly file: string
  readonly code: string
}

const page = 'docs/1.guide/16.frameworks.md'

/** The files that the docs give for a framework: the blocks of its section that name a file. */
export function recipesOf(section: string): Recipe[] {
  const text = readFileSync(page, 'utf8')
  const start = text.indexOf(`\n## ${section}\n`)
  if (start < 0) throw new Error(`${page} has no section "${section}"`)
  const end = text.indexOf('\n## ', start + 1)
  const blocks = text.slice(start, end < 0 ? undefined : end).matchAll(/^```\w+ \[(.+)\]\n([^]*?)^```/gm)
  return [...blocks].map(([, file = '', code = '']) => ({ file, code }))
}
