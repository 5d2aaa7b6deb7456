import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { Markdown } from '../../../packages/page/src/markdown/markdown.tsx'
import { toCsv } from '../../../packages/page/src/markdown/table.tsx'

const render = (text: string): string => renderToString(h(Markdown, { text }))
const opened: [number, string][] = []
const renderCited = (text: string): string =>
  renderToString(
    h(Markdown, {
      text,
      citations: {
        label: (number) => (number === 1 ? 'Source 1: Leave' : undefined),
        open: (number, sentence) => opened.push([number, sentence]),
      },
    }),
  )

describe('what Markdown becomes', () => {
  test('headings, lists, tables and code become elements', () => {
    const html = render(
      '## Leave\n\n- a **bold** day\n- [x] done\n\n| a | b |\n|--:|---|\n| 1 | `2` |\n\n```sh\nls < in\n```',
    )
    expect(html).toContain('<h3 dir="auto">Leave</h3>')
    expect(html).toContain('<li dir="auto">a <strong>bold</strong> day</li>')
    expect(html).toMatch(/<input[^>]*type="checkbox"[^>]*checked/)
    expect(html).toContain('<td class="right" dir="auto">1</td><td dir="auto"><code>2</code></td>')
    expect(html).toContain('<code>ls &lt; in</code>')
  })

  test('half of a text that is still on its way is shown as far as it goes', () => {
    for (const cut of ['**bo', '```sh\nls', '| a | b |\n|--', '[link](htt', '- a\n  - b', '> quo', '<div']) render(cut)
    expect(render('```sh\nls')).toContain('<code>ls</code>')
  })

  test('formulas keep their backslashes, other escapes lose them', () => {
    expect(render('\\(a\\,b\\) and \\*c\\*')).toContain('<code class="formula">a\\,b</code> and *c*')
  })

  test('alerts, details and footnotes become elements', () => {
    const html = render(
      '> [!TIP]\n> Warm\n\n<details><summary>More</summary>\nText</details>\n\nSee[^a] and[^b].\n\n[^a]: Note',
    )
    expect(html).toMatch(
      /<div class="alert tip" role="note"[^>]*><p class="alert-name">Tip<\/p><p[^>]*>Warm<\/p><\/div>/,
    )
    expect(html).toMatch(/<details class="fold"[^>]*><summary>More<\/summary>/)
    expect(html).toMatch(/See<sup><button[^>]*aria-label="Footnote 1"[^>]*>1<\/button><\/sup> and\[\^b\]\./)
    expect(html).toMatch(/<ol class="footnotes"[^>]*><li id="[^"]*-note-1"[^>]*>Note<\/li><\/ol>/)
  })

  test('paragraphs take their direction from their text', () => {
    expect(render('שלום\n\nhello')).toContain('<p dir="auto">שלום</p><p dir="auto">hello</p>')
  })

  test('tables are copied as CSV that no spreadsheet computes', () => {
    const rows = [
      ['a,b', '=1+1', '-5', '-cmd'],
      ['"q"', '', 'ok', '@x'],
    ]
    expect(toCsv(rows)).toBe(`"a,b",'=1+1,-5,'-cmd\r\n"""q""",,ok,'@x`)
  })

  test('character references are resolved once', () => {
    expect(render('a &amp; b &#8364; &amp;lt;')).toContain('a &amp; b € &amp;lt;')
  })

  test('links open elsewhere and tell nothing of where they come from', () => {
    expect(render('[site](https://a.example/x?y=1&z=2)')).toContain(
      '<a href="https://a.example/x?y=1&amp;z=2" target="_blank" rel="noopener noreferrer nofollow">site</a>',
    )
  })
})

describe('what untrusted text cannot do', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'text <img src=x onerror=alert(1)> text',
    '<svg/onload=alert(1)>',
    '<iframe src="https://evil.example"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<style>*{display:none}</style>',
    '<form action="https://evil.example"><input name=q></form>',
    '<details open ontoggle=alert(1)>',
    '- <b onmouseover=alert(1)>x</b>',
    '| <script>x</script> |\n|---|\n| <img src=x> |',
    '## <object data="x">',
  ])('HTML is shown as text: %s', (text) => {
    // The icon of the page's own button to copy a table.
    const html = render(text).replaceAll(/<svg class="icon".*?<\/svg>/g, '')
    expect(html).not.toMatch(/<(script|img|svg|iframe|style|form|object|details|b)\b/i)
    expect(html).not.toMatch(/<[^>]+\son\w+=/i)
    expect(html).toContain('&lt;')
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '\u{1}javascript:alert(1)',
    'javascript&colon;alert(1)',
    '&#106;avascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a.example/1',
    '//evil.example/x',
    '/page/key',
    '../secret',
    'https://',
  ])('a link to %s leads nowhere', (href) => {
    expect(render(`[click](<${href}>)`)).not.toContain('href')
    expect(render(`[click](${href})`)).not.toContain('href')
    expect(render(`<${href}>`)).not.toMatch(/href="(?!https?:|mailto:)/)
  })

  test('a picture is not fetched but offered as a link', () => {
    const html = render('![diagram](https://tracker.example/p.png)')
    expect(html).not.toContain('<img')
    expect(html).toContain('href="https://tracker.example/p.png"')
    expect(render('![x](javascript:alert(1))')).not.toContain('href')
    expect(render('![x][r]\n\n[r]: https://tracker.example/p.png')).not.toContain('<img')
  })

  test('text cannot break out of an attribute', () => {
    const html = render('[a](https://a.example/"onclick="alert(1) "t\\" onclick=x")')
    expect(html).not.toMatch(/<[^>]+\sonclick=/i)
  })

  test('deeply nested text does not take the page down', () => {
    expect(() => render('> '.repeat(200) + 'x')).not.toThrow()
    expect(() => render('*'.repeat(5_000))).not.toThrow()
    expect(() => render('['.repeat(5_000))).not.toThrow()
  })
})

describe('citations', () => {
  test('a number becomes a button that names its source', () => {
    const html = renderCited('Staff get 25 days [[1]](https://wiki.example/leave).')
    expect(html).toMatch(/<button[^>]*class="citation\b[^>]*aria-label="Source 1: Leave"[^>]*>1<\/button>/)
    expect(html).not.toContain('href')
  })

  test('a source without a link is cited all the same', () => {
    expect(renderCited('Yes [[1]]().')).toContain('class="citation')
  })

  test('a number that names nothing stays a link', () => {
    expect(renderCited('Yes [[7]](https://wiki.example/x).')).toContain('<a href="https://wiki.example/x"')
  })

  test('a number inside code stays text', () => {
    expect(renderCited('`[[1]](https://a.example)`')).not.toContain('citation')
  })
})
