import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { admin as germanAdmin } from '../../../packages/page/src/texts/de/admin.ts'
import { admin as englishAdmin } from '../../../packages/page/src/texts/en/admin.ts'
import { documents as germanDocuments } from '../../../packages/page/src/texts/de/documents.ts'
import { health as germanHealth } from '../../../packages/page/src/texts/de/health.ts'
import { german as germanPage } from '../../../packages/page/src/texts/de/index.ts'
import { documents as englishDocuments } from '../../../packages/page/src/texts/en/documents.ts'
import { health as englishHealth } from '../../../packages/page/src/texts/en/health.ts'
import { english as englishPage } from '../../../packages/page/src/texts/en/index.ts'
import {
  formatBytes,
  formatDay,
  formatNumber,
  plural,
  preferredLanguage,
  setLocale,
} from '../../../packages/page/src/texts/locale.ts'

const english = { ...englishPage, admin: englishAdmin, documents: englishDocuments, health: englishHealth }
const german = { ...germanPage, admin: germanAdmin, documents: germanDocuments, health: germanHealth }

afterEach(() => setLocale('en'))

const source = join(import.meta.dirname, '../../../packages/page/src')

/** `frame.newChat`, …, and whether it takes something. */
function entriesOf(texts: object, path = ''): readonly (readonly [key: string, text: string | (() => string)])[] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? entriesOf(value, `${path}${name}.`)
      : [[`${path}${name}`, value as string | (() => string)] as const],
  )
}

describe('the catalogue of texts', () => {
  test('has the same keys in each language, and each takes as much', () => {
    const shapeOf = (texts: object): readonly string[] =>
      entriesOf(texts).map(([key, text]) => `${key} ${typeof text === 'string' ? 'text' : text.length}`)
    expect(shapeOf(german)).toEqual(shapeOf(english))
  })

  test('is translated: whole sentences differ', () => {
    const originals = new Map(entriesOf(english))
    const same = entriesOf(german).filter(
      ([key, text]) => typeof text === 'string' && text.includes(' ') && originals.get(key) === text,
    )
    expect(same).toEqual([])
  })

  test('has no empty text and no spaces around one', () => {
    const texts = [...entriesOf(english), ...entriesOf(german)].map(([, text]) => text)
    expect(texts.filter((text) => typeof text === 'string' && (text === '' || text.trim() !== text))).toEqual([])
  })

  test('holds every word of the views that use it', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => /\.tsx?$/.test(file))
      // The name of a document set is stored, not shown.
      .filter((file) => !file.startsWith('texts/') && file !== 'own-documentation-set.ts')
      // Keywords of programming languages.
      .filter((file) => file !== 'markdown/highlight.ts')
    expect(files.length).toBeGreaterThan(10)
    const words = files.flatMap((file) =>
      wordsIn(readFileSync(join(source, file), 'utf8'), file.endsWith('x') ? 'tsx' : 'ts').map(
        (text) => `${file}: ${text}`,
      ),
    )
    expect(words).toEqual([])
  })

  test('the search for words finds those of each kind', () => {
    const words = wordsIn(`
      const lead = (count: number) => count === 0 ? 'Nothing here yet.' : \`\${count} files here\`
      const view = (open: boolean) => <p class="lead row" title={open ? 'Close' : 'Open'} aria-label="Name">
        Hello {count} <b>{isOpen ? 'more' : lead(2)}</b> · <code>x</code></p>
    `)
    expect(words).toEqual(['Nothing here yet.', ' files here', 'Close', 'Open', 'Name', 'Hello', 'more', 'x'])
  })
})

describe('the language of the page', () => {
  test('is the first of the browser that the page has', () => {
    expect(preferredLanguage(['fr-FR', 'de-AT', 'en-US'])).toBe('de')
    expect(preferredLanguage(['en-GB', 'de'])).toBe('en')
    expect(preferredLanguage(['fr'])).toBe('en')
    expect(preferredLanguage([])).toBe('en')
  })

  test('forms plurals, numbers, sizes and dates', () => {
    const documents = (count: number): string => plural(count, { one: '# document', other: '# documents' })
    expect([0, 1, 2, 12_345].map(documents)).toEqual(['0 documents', '1 document', '2 documents', '12,345 documents'])
    expect([formatBytes(0), formatBytes(999), formatBytes(12_340_000)]).toEqual(['0 byte', '999 byte', '12.3 MB'])
    setLocale('de')
    expect([formatNumber(12_345.6), formatBytes(12_340_000)]).toEqual(['12.345,6', '12,3 MB'])
    expect(formatDay(new Date(2026, 10, 27))).toBe('27.11.2026')
  })

  test('formats in the page’s language where the browser’s tag is none that formatters take', () => {
    vi.stubGlobal('navigator', { languages: ['en-US@posix', 'de-DE@euro', 'de-DE'] })
    for (const language of ['en', 'de'] as const) {
      setLocale(language)
      expect(formatNumber(1234.5)).toBe(language === 'en' ? '1,234.5' : '1.234,5')
      expect(plural(1, { one: '# file', other: '# files' })).toBe('1 file')
    }
    expect(preferredLanguage()).toBe('en')
    vi.unstubAllGlobals()
  })
})

/** Attributes that are shown or read out. */
const spokenAttributes = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'aria-description'])

/** Words that people would read: texts between tags, in attributes that are shown, and sentences anywhere. */
function wordsIn(code: string, lang: 'ts' | 'tsx' = 'tsx'): readonly string[] {
  const words: string[] = []
  const add = (text: unknown): void => {
    if (typeof text === 'string' && /\p{L}/u.test(text) && !isExample(text)) words.push(text)
  }
  const visit = (node: unknown, isShown: boolean): void => {
    if (Array.isArray(node)) return node.forEach((child) => visit(child, isShown))
    if (typeof node !== 'object' || node === null) return
    const { type, ...fields } = node as { type?: string } & Record<string, unknown>
    switch (type) {
      case 'JSXText':
        // Names of things between tags, such as the product's, are the same in every language.
        if (String(fields['value']).trim() !== 'Inlay') add(String(fields['value']).trim())
        return
      case 'JSXElement':
        visit((fields['openingElement'] as { attributes?: unknown }).attributes, false)
        return visit(fields['children'], true)
      case 'JSXFragment':
        return visit(fields['children'], true)
      case 'JSXAttribute':
        return visit(fields['value'], spokenAttributes.has((fields['name'] as { name: string }).name))
      case 'ConditionalExpression':
        visit(fields['test'], false)
        visit(fields['consequent'], isShown)
        return visit(fields['alternate'], isShown)
      case 'LogicalExpression':
        if (fields['operator'] === '&&') visit(fields['left'], false)
        else visit(fields['left'], isShown)
        return visit(fields['right'], isShown)
      case 'CallExpression':
      case 'NewExpression':
      case 'BinaryExpression':
      case 'MemberExpression':
      case 'ArrowFunctionExpression':
        return Object.values(fields).forEach((child) => visit(child, false))
      case 'Literal':
        if (isShown || isSentence(fields['value'])) add(fields['value'])
        return
      case 'TemplateElement': {
        const { cooked } = fields['value'] as { cooked: string }
        if (isShown || isSentence(cooked)) add(cooked)
        return
      }
      default:
        return Object.values(fields).forEach((child) => visit(child, isShown))
    }
  }
  visit(parseAst(code, { lang }).body, false)
  return words
}

/** `Nothing here yet.`, `files here`: no names of classes, addresses or keys. */
const isSentence = (text: unknown): boolean =>
  typeof text === 'string' && (/^\p{Lu}\p{Ll}+\b.* \p{L}/su.test(text) || /^ \p{L}+ \p{L}+/u.test(text))

/** Addresses, names of models and headers: the same in every language. */
const isExample = (text: string): boolean => /^(https?:\/\/\S+|[\w-]+\/[\w.-]+|[\w-]+: Bearer …)$/.test(text)
