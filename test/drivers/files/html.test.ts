import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { utf8 } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const markdownOf = async (body: string): Promise<string> =>
  (await extract({ name: 'a.html', bytes: utf8(body) })).sections.map(({ text }) => text).join('\n\n')

describe('HTML as Markdown', () => {
  test.each([
    ['headings', '<h1>One</h1><h3>Three <em>x</em></h3>', '# One\n\n### Three *x*'],
    ['paragraphs and breaks', '<p>a  b\n c<br>d</p><p>e</p>', 'a b c\nd\n\ne'],
    ['emphasis with white space outside', 'x<b> bold </b>y <i>it</i> <del>old</del>', 'x **bold** y *it* ~~old~~'],
    ['nested marks once', '<b>a <strong>b</strong></b>', '**a b**'],
    ['links', '<a href="https://x.org/a b">text</a>', '[text](https://x.org/a%20b)'],
    [
      'no script, fragment or data links',
      '<a href="javascript:x()">a</a> <a href="#b">b</a> <a href="data:x">c</a>',
      'a b c',
    ],
    ['a link around a block', '<a href="/x"><h2>Card</h2></a>', '## [Card](/x)'],
    ['numbers of items', '<ol><li value=4>a<li>b</ol>', '4. a\n5. b'],
    ['lists in lists', '<ul><li>a<ol start=3><li>b<li>c</ol><li>d</ul>', '- a\n  3. b\n  4. c\n- d'],
    [
      'check boxes',
      '<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>',
      '- [x] done\n- [ ] open',
    ],
    ['quotations', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    ['definitions of terms with a colon', '<dl><dt>Leave:</dt><dd>Days off</dd></dl>', '- **Leave**: Days off'],
    ['definitions', '<dl><dt>Leave</dt><dd>Days off</dd></dl>', '- **Leave**: Days off'],
    [
      'definitions with several terms, paragraphs and lists',
      '<dl><div><dt>Ferry</dt><dt>Boat</dt><dd><p>Sails.</p><p>Often.</p></dd></div><div><dt>Bus</dt><dd><ul><li>red</li><li>blue</li></ul></dd></div></dl>',
      '- **Ferry**, **Boat**: Sails.\n\n  Often.\n- **Bus**:\n\n  - red\n  - blue',
    ],
    ['inline code', '<code>a = b</code> <kbd>Ctrl</kbd> <code>`x`</code>', '`a = b` `Ctrl` `` `x` ``'],
    [
      'code with its language',
      '<pre><code class="language-py">if a:\n    b()\n\n</code></pre>',
      '```py\nif a:\n    b()\n```',
    ],
    ['code with fences in it', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    [
      'highlighted code without its line numbers',
      '<div class="highlight"><pre><span class="lineno">1</span><span>x</span> <b>=</b> 1</pre></div>',
      '```\nx = 1\n```',
    ],
    ['entities', '<p>a &amp; b &lt;c&gt; &nbsp;&eacute; &#8364;</p>', 'a & b <c> \u00a0é €'],
    ['words that elements part', '<p>one<span>two</span> <b>three</b>four</p>', 'onetwo **three**four'],
    [
      'text that looks like Markdown structure',
      '<p># no heading</p><p>&gt; no quote</p>',
      '\\# no heading\n\n\\> no quote',
    ],
    [
      'formulas by their TeX',
      '<p>Area <math><semantics><mi>r</mi><annotation encoding="application/x-tex">\\pi r^2</annotation></semantics></math></p>',
      'Area $\\pi r^2$',
    ],
    ['powers', '<p>5 m<sup>2</sup></p>', '5 m^2'],
    ['descriptions of images', '<p><img src=x.png alt="A red door"> open</p>', 'A red door open'],
    ['unclosed and misnested elements', '<p>a<p>b <b>c <i>d</b> e</i>', 'a\n\nb **c *d*** e'],
  ])('%s', async (_, html, markdown) => {
    expect(await markdownOf(`<!doctype html><body>${html}`)).toBe(markdown)
  })

  test('what is not text of the page is dropped', async () => {
    const page = `<!doctype html><html><head><style>p{}</style><script>bad()</script></head><body>
      <nav><a href=/>Home</a></nav><header>Logo</header><aside role=complementary>Ads</aside>
      <p>Text<script>document.write('x')</script><span hidden>no</span><span style="display: none">no</span><i aria-hidden=true>no</i></p>
      <noscript>Enable scripts</noscript><svg><text>vector</text></svg><form><button>Send</button><select><option>one</select></form>
      <iframe src=x></iframe><template>t</template><footer>Imprint</footer></body></html>`
    expect(await markdownOf(page)).toBe('Text')
  })

  test('of a page that marks its main part, only that is read', async () => {
    expect(
      await markdownOf(
        '<!doctype html><body><div>Menu</div><main><h1>T</h1><p>x</p><nav>toc</nav></main><div>Related</div>',
      ),
    ).toBe('# T\n\nx')
    expect(await markdownOf('<!doctype html><body><div>Menu</div><article><p>x</p></article>')).toBe('x')
    expect(await markdownOf('<!doctype html><body><article>a</article><article>b</article>')).toBe('a\n\nb')
    expect(await markdownOf('<!doctype html><body><p>x</p><main></main>')).toBe('x')
  })
})

describe('HTML tables', () => {
  test('become Markdown tables with their header, caption, and cells in one line', async () => {
    const table =
      '<table><caption>Prices</caption><thead><tr><th>Article<th><b>Price</b></thead><tbody><tr><td>Pen | red<td><p>1</p><p>2</p><tr><td><a href=/x>Ink</a><td># 3</tbody></table>'
    expect(await markdownOf(`<!doctype html>${table}`)).toBe(
      'Prices\n\n| Article | Price |\n| --- | --- |\n| Pen \\| red | 1 2 |\n| [Ink](/x) | # 3 |',
    )
  })

  test('a cell that spans rows is told in each, one that spans columns once', async () => {
    const table =
      '<table><tr><th>Team<th>Name<th>Days<tr><td rowspan=2>Red<td>Ann<td>30<tr><td>Bob<td>28<tr><td colspan=2>Sum<td>58</table>'
    expect(await markdownOf(`<!doctype html>${table}`)).toBe(
      '| Team | Name | Days |\n| --- | --- | --- |\n| Red | Ann | 30 |\n| Red | Bob | 28 |\n| Sum |  | 58 |',
    )
  })

  test('a head that spans columns stands over each of them, and one that spans rows in each', async () => {
    const rows = '<tr><td rowspan=2>Region<td colspan=2>Sales<tr><td>2023<td>2024<tr><td>North<td>1<td>2'
    const expected = '| Region | Sales | Sales |\n| --- | --- | --- |\n| Region | 2023 | 2024 |\n| North | 1 | 2 |'
    expect(await markdownOf(`<!doctype html><table>${rows}</table>`)).toBe(expected)
    expect(await markdownOf(`<!doctype html><table><thead>${rows.replaceAll('td', 'th')}</table>`)).toBe(expected)
    const square = '<tr><td rowspan=2 colspan=2>A<td>B<tr><td>C'
    expect(await markdownOf(`<!doctype html><table>${square}</table>`)).toBe(
      '| A | A | B |\n| --- | --- | --- |\n| A | A | C |',
    )
  })

  test('a head has a cell over each column', async () => {
    expect(await markdownOf('<!doctype html><table><tr><th>A<th>B<tr><td>1<td>2<td>3</table>')).toBe(
      '| A | B |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
    )
  })

  test('tables that only lay out a page become its text', async () => {
    const layout =
      '<table><tr><td><h2>News</h2><p>One</p></td><td><table><tr><th>A<th>B<tr><td>1<td>2</table></td></tr></table>'
    expect(await markdownOf(`<!doctype html>${layout}`)).toBe('## News\n\nOne\n\n| A | B |\n| --- | --- |\n| 1 | 2 |')
    expect(await markdownOf('<!doctype html><table role=presentation><tr><td>a<td>b</table>')).toBe('a\n\nb')
  })
})

describe('what a page says of itself', () => {
  test('title, author, dates, language, and where it lies', async () => {
    const file = await extract({
      name: 'a.html',
      bytes:
        utf8(`<!doctype html><html lang=de><head><title> Urlaub  &amp; Zeit </title><meta name=author content="Ann"><meta name=keywords content="a, b">
        <meta property="article:published_time" content="2024-03-01T10:00:00+01:00"><meta property="article:modified_time" content="2024-04-01">
        <link rel=canonical href="https://x.org/docs/leave"></head><body><p>See <a href="../b">b</a>`),
    })
    expect(file).toMatchObject({
      title: 'Urlaub & Zeit',
      metadata: { author: 'Ann', keywords: ['a', 'b'], language: 'de' },
      createdAt: Date.UTC(2024, 2, 1, 9),
      updatedAt: Date.UTC(2024, 3, 1),
      sections: [{ text: 'See [b](https://x.org/b)', link: 'https://x.org/docs/leave' }],
    })
  })

  test('a page without a title is named by its first heading', async () => {
    expect((await extract({ name: 'a.html', bytes: utf8('<h1>Leave <i>rules</i></h1><p>x') })).title).toBe(
      'Leave rules',
    )
  })

  test('an address that is none of the web is no link', async () => {
    const { sections } = await extract({ name: 'a.html', bytes: utf8('<link rel=canonical href="javascript:x"><p>x') })
    expect(sections[0]?.link).toBeUndefined()
  })
})
