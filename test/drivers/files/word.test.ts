import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { docx, paragraph, relations, wordPart, zip } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

type More = NonNullable<Parameters<typeof docx>[1]>

const textOf = async (body: string, more?: More): Promise<string> =>
  (await extract({ name: 'a.docx', bytes: docx(body, more) })).sections.map(({ text }) => text).join('\n\n')

const t = (text: string): string => `<w:t xml:space="preserve">${text}</w:t>`
const run = (text: string, properties = ''): string =>
  `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}${t(text)}</w:r>`
const p = (...inner: string[]): string => `<w:p>${inner.join('')}</w:p>`

describe('equations', () => {
  const m = (inner: string): string => `<m:oMath>${inner}</m:oMath>`
  const r = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`
  const e = (text: string): string => `<m:e>${r(text)}</m:e>`
  const squared = `<m:sSup>${e('c')}<m:sup>${r('2')}</m:sup></m:sSup>`

  test('stand in their sentence, or as a paragraph of their own', async () => {
    expect(await textOf(p(run('The dose is '), m(r('12.5 mg')), run(' a day.')))).toBe('The dose is 12.5 mg a day.')
    const block = p(
      `<m:oMathPara><m:oMathParaPr><m:jc m:val="center"/></m:oMathParaPr>${m(r('E=m') + squared)}</m:oMathPara>`,
    )
    expect(await textOf(block + paragraph('holds.'))).toBe('E=mc^2\n\nholds.')
  })

  test.each([
    [`<m:f><m:num>${r('a+b')}</m:num><m:den>${r('2')}</m:den></m:f>`, '(a+b)/2'],
    [`<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>${e('x')}</m:rad>`, '√x'],
    [`<m:rad><m:deg>${r('3')}</m:deg>${e('x+1')}</m:rad>`, '√[3](x+1)'],
    [`<m:sSubSup>${e('x')}<m:sub>${r('i')}</m:sub><m:sup>${r('2')}</m:sup></m:sSubSup>`, 'x_i^2'],
    [
      `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${r('i=1')}</m:sub><m:sup>${r('n')}</m:sup>${e('i')}</m:nary>`,
      '∑_(i=1)^n i',
    ],
    [`<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>${e('a')}${e('b')}</m:d>`, '[a|b]'],
    [`<m:func><m:fName>${r('sin')}</m:fName>${e('x')}</m:func>`, 'sin x'],
    [
      `<m:d><m:dPr/><m:e><m:m><m:mr>${e('1')}${e('0')}</m:mr><m:mr>${e('0')}${e('1')}</m:mr></m:m></m:e></m:d>`,
      '(1 0; 0 1)',
    ],
    [`<w:ins w:id="1"><m:r><w:rPr/><m:t>y</m:t></m:r></w:ins><w:del w:id="2"><m:r><m:t>z</m:t></m:r></w:del>`, 'y'],
  ])('are written in a line: %#', async (inner, expected) => {
    expect(await textOf(p(m(inner)))).toBe(expected)
  })
})

describe('fields', () => {
  const char = (type: string, inner = ''): string =>
    `<w:r><w:fldChar w:fldCharType="${type}">${inner}</w:fldChar></w:r>`
  const code = (text: string): string => `<w:r><w:instrText xml:space="preserve">${text}</w:instrText></w:r>`
  const field = (instruction: string, result: string): string =>
    char('begin') + code(instruction) + char('separate') + result + char('end')

  test('simple ones show their results', async () => {
    const simple = (instruction: string, text: string): string =>
      `<w:fldSimple w:instr=" ${instruction} ">${run(text)}</w:fldSimple>`
    const body = p(
      run('Dear '),
      simple('MERGEFIELD Name', 'Ms Example'),
      run(', see clause '),
      simple('REF c \\r \\h', '4'),
      run(' of '),
      simple('DATE', '3 May 2026'),
      run('.'),
    )
    expect(await textOf(body)).toBe('Dear Ms Example, see clause 4 of 3 May 2026.')
    expect(await textOf(p(simple('HYPERLINK &quot;https://x.org/&quot;', 'rules')))).toBe('[rules](https://x.org/)')
  })

  test('complex ones show their results and hide their codes', async () => {
    const nested =
      char('begin') +
      code(' IF ') +
      field('MERGEFIELD Sex', run('f')) +
      code(' = "f" "Ms" "Mr" ') +
      char('separate') +
      run('Ms') +
      char('end')
    expect(await textOf(p(run('Dear '), nested, run(' Lee.')))).toBe('Dear Ms Lee.')
    expect(await textOf(p(field('HYPERLINK "https://x.org/a" \\o "tip"', run('the ') + run('rules'))))).toBe(
      '[the rules](https://x.org/a)',
    )
    expect(await textOf(p(field('HYPERLINK \\l "b"', run('below'))))).toBe('below')
  })

  test('one without end hides no text behind it', async () => {
    const broken =
      p(run('One '), char('begin'), code(' PAGE '), run('two.')) + p(field('REF x', run('Three'))) + paragraph('Four.')
    expect(await textOf(broken)).toBe('One two.\n\nThree\n\nFour.')
  })

  test('forms show what was ticked, chosen or asked', async () => {
    const box = `<w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData>`
    const list = `<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="Red"/><w:listEntry w:val="Blue"/></w:ddList></w:ffData>`
    const form = (data: string, name: string): string => char('begin', data) + code(name) + char('end')
    expect(await textOf(p(form(box, 'FORMCHECKBOX'), run('Paid')))).toBe('[x] Paid')
    expect(await textOf(p(run('Colour: '), form(list, 'FORMDROPDOWN')))).toBe('Colour: Blue')
    expect(await textOf(p(form('', 'MACROBUTTON NoMacro [Your name]')))).toBe('[Your name]')
  })
})

describe('numbers of lists', () => {
  interface LevelParts {
    readonly text?: string
    readonly format?: string
    readonly start?: number
    readonly more?: string
  }
  const level = (number: number, { text, format = 'decimal', start = 1, more = '' }: LevelParts): string =>
    `<w:lvl w:ilvl="${number}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text ?? `%${number + 1}.`}"/></w:lvl>`
  const numbered = (
    levels: readonly LevelParts[],
    nums = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
    styles = '',
  ): More => ({
    parts: {
      'word/numbering.xml': wordPart(
        'numbering',
        `<w:abstractNum w:abstractNumId="0">${levels.map((each, at) => level(at, each)).join('')}</w:abstractNum>${nums}`,
      ),
      'word/styles.xml': wordPart('styles', styles),
    },
    relations: [
      { id: 'n', type: 'numbering', target: 'numbering.xml' },
      { id: 's', type: 'styles', target: 'styles.xml' },
    ],
  })
  const item = (text: string, depth = 0, id = 1): string =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${id}"/></w:numPr></w:pPr>${run(text)}</w:p>`

  test('clauses have the numbers that Word shows', async () => {
    const more = numbered([{ text: '%1', start: 3 }, { text: '%1.%2' }, { text: '(%3)', format: 'lowerLetter' }])
    const body =
      item('Supply') +
      item('The supplier delivers.', 1) +
      item('On time,', 2) +
      item('in full.', 2) +
      paragraph('See below.') +
      item('The buyer pays.', 1) +
      item('Price') +
      item('It is fixed.', 1)
    expect((await textOf(body, more)).split('\n\n')).toEqual([
      '3 Supply',
      '3.1 The supplier delivers.',
      '(a) On time,',
      '(b) in full.',
      'See below.',
      '3.2 The buyer pays.',
      '4 Price',
      '4.1 It is fixed.',
    ])
  })

  test('lists go on behind a paragraph, start where they say, and restart where a list of its own does', async () => {
    const restarted =
      '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>'
    const more = numbered([{ start: 2 }], restarted)
    expect(
      await textOf(item('a') + item('b') + paragraph('then') + item('c') + item('d', 0, 2) + item('e', 0, 2), more),
    ).toBe('2. a\n3. b\n\nthen\n\n4. c\n7. d\n8. e')
  })

  test.each([
    ['lowerRoman', 4, 'iv'],
    ['upperRoman', 9, 'IX'],
    ['lowerLetter', 27, 'aa'],
    ['upperLetter', 3, 'C'],
    ['decimalZero', 5, '05'],
    ['ordinal', 22, '22nd'],
    ['chineseCounting', 12, '十二'],
    ['decimalEnclosedCircle', 3, '③'],
    ['decimalFullWidth', 12, '１２'],
    ['lowerLetter', 1e8, '100000000'],
  ])('in %s', async (format, start, expected) => {
    expect(await textOf(item('x'), numbered([{ format, start, text: '(%1)' }]))).toBe(`(${expected}) x`)
  })

  test('legal numbers, levels that never restart, no space behind a number, numbers that are none', async () => {
    const legal = numbered([
      { format: 'upperRoman', text: 'Article %1.' },
      { text: '%1.%2', more: '<w:isLgl/>' },
      { text: '§%3', more: '<w:lvlRestart w:val="0"/>' },
    ])
    const body = item('A') + item('one', 1) + item('x', 2) + item('B') + item('two', 1) + item('y', 2)
    expect((await textOf(body, legal)).split('\n\n')).toEqual([
      'Article I. A',
      '1.1 one',
      '§1 x',
      'Article II. B',
      '2.1 two',
      '§2 y',
    ])
    expect(await textOf(item('条'), numbered([{ text: '第%1条', more: '<w:suff w:val="nothing"/>' }]))).toBe('第1条条')
    expect(await textOf(item('plain'), numbered([{ format: 'none', text: '' }]))).toBe('plain')
    expect(await textOf(item('plain', 0, 0), numbered([{}]))).toBe('plain')
    expect(await textOf(item('dot'), numbered([{ format: 'bullet', text: '\uf0b7' }]))).toBe('- dot')
  })

  test('a list of letters below a numbered item belongs to it', async () => {
    const more = numbered([{}, { text: '(%2)', format: 'lowerLetter' }, { format: 'bullet', text: 'o' }])
    expect(await textOf(item('one') + item('in', 1) + item('dot', 2) + item('more', 1) + item('two'), more)).toBe(
      '1. one\n   - (a) in\n     - dot\n   - (b) more\n2. two',
    )
  })

  test('headings are numbered by their styles', async () => {
    const heading = (at: number, numbering: string): string =>
      `<w:style w:type="paragraph" w:styleId="H${at}"><w:name w:val="heading ${at}"/><w:pPr><w:numPr>${numbering}</w:numPr><w:outlineLvl w:val="${at - 1}"/></w:pPr></w:style>`
    const styles =
      heading(1, '<w:numId w:val="1"/>') +
      heading(2, '<w:ilvl w:val="1"/><w:numId w:val="1"/>') +
      '<w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:basedOn w:val="H2"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>'
    const more = numbered([{ text: '%1' }, { text: '%1.%2' }], undefined, styles)
    const plain = `<w:p><w:pPr><w:pStyle w:val="H1"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>${run('Annex')}</w:p>`
    expect(
      (
        await textOf(
          paragraph('Scope', 'H1') + paragraph('Terms', 'H2') + paragraph('A clause.', 'Clause') + plain,
          more,
        )
      ).split('\n\n'),
    ).toEqual(['# 1 Scope', '## 1.1 Terms', '1.2 A clause.', '# Annex'])
  })

  test('a list of a style of lists', async () => {
    const more = numbered(
      [],
      '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="L"/></w:abstractNum><w:abstractNum w:abstractNumId="2"><w:styleLink w:val="L"/><w:lvl w:ilvl="0"><w:numFmt w:val="upperLetter"/><w:lvlText w:val="%1)"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>',
      '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>',
    )
    expect(await textOf(item('a') + item('b'), more)).toBe('A) a\n\nB) b')
  })
})

describe('other text in sentences', () => {
  test.each([
    [
      'the base of ruby',
      p(
        run('See '),
        '<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby></w:r>',
        run('京.'),
      ),
      'See 東京.',
    ],
    [
      'smart tags and custom XML',
      p(
        '<w:smartTag w:element="City">',
        run('Oslo'),
        '</w:smartTag>',
        '<w:customXml w:element="x">',
        run(' fjord'),
        '</w:customXml>',
      ),
      'Oslo fjord',
    ],
    [
      'runs in another direction',
      p('<w:dir w:val="rtl">', run('שלום '), '</w:dir><w:bdo w:val="ltr">', run('abc'), '</w:bdo>'),
      'שלום abc',
    ],
    [
      'symbols',
      p(
        run('5 '),
        '<w:r><w:sym w:font="Symbol" w:char="F06D"/></w:r>',
        run('g '),
        '<w:r><w:rPr><w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/></w:rPr><w:t>\uf0fc</w:t></w:r>',
      ),
      '5 μg ✓',
    ],
    [
      'hyphens, tabs and breaks',
      p(
        '<w:r>',
        t('e'),
        '<w:noBreakHyphen/>',
        t('mail'),
        '<w:tab/>',
        t('wind'),
        '<w:softHyphen/>',
        t('mill'),
        '<w:ptab w:alignment="right"/>',
        t('end'),
        '<w:br/>',
        t('line'),
        '<w:cr/>',
        t('last'),
        '</w:r>',
      ),
      'e\u2011mail windmill end\nline\nlast',
    ],
    ['a page break', p('<w:r>', t('one'), '<w:br w:type="page"/>', t('two'), '</w:r>'), 'one\ntwo'],
    [
      'moved text once',
      p(
        '<w:moveFrom w:id="1">',
        run('here '),
        '</w:moveFrom>',
        run('stays '),
        '<w:moveTo w:id="2">',
        run('here'),
        '</w:moveTo>',
      ),
      'stays here',
    ],
    [
      'paragraphs joined by a deleted mark',
      `<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>${run('one ')}</w:p>${paragraph('two')}`,
      'one two',
    ],
    ['neighbours of one mark', p(run('bo', '<w:b/>'), run('ld', '<w:b/>'), run(' end')), '**bold** end'],
  ])('keep %s', async (_, body, expected) => {
    expect(await textOf(body)).toBe(expected)
  })

  test('text hidden by its style is hidden', async () => {
    const styles = wordPart(
      'styles',
      '<w:style w:type="character" w:styleId="Sec"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>',
    )
    const more = {
      parts: { 'word/styles.xml': styles },
      relations: [{ id: 's', type: 'styles', target: 'styles.xml' }],
    }
    const body = p(
      run('Seen, '),
      run('secret, ', '<w:rStyle w:val="Sec"/>'),
      run('shown.', '<w:rStyle w:val="Sec"/><w:vanish w:val="0"/>'),
    )
    expect(await textOf(body, more)).toBe('Seen, shown.')
  })
})

describe('text outside of sentences', () => {
  const box = (text: string): string => `<w:txbxContent>${paragraph(text)}</w:txbxContent>`
  test('a text box is read once, behind its paragraph', async () => {
    const alternate = `<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wp:positionH><wp:align>center</wp:align></wp:positionH><a:graphic><a:graphicData><wps:wsp><wps:txbx>${box('Note')}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>${box('Note')}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent>`
    expect(await textOf(p(run('Be'), `<w:r>${alternate}</w:r>`, run('fore')) + paragraph('After'))).toBe(
      'Before\n\nNote\n\nAfter',
    )
    const old = `<w:r><mc:AlternateContent><mc:Choice Requires="x"><w:drawing/></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>${box('Old')}</v:textbox><v:textpath string="Draft"/></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>`
    expect(await textOf(p(old))).toBe('Draft\n\nOld')
  })

  test('content controls around and inside of paragraphs, rows and cells', async () => {
    const sdt = (inner: string, properties = ''): string =>
      `<w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${inner}</w:sdtContent></w:sdt>`
    const cell = (text: string): string => `<w:tc>${sdt(paragraph(text))}</w:tc>`
    const table = `<w:tbl>${sdt(`<w:tr>${cell('A')}${sdt(cell('B'))}</w:tr>`)}<w:tr>${cell('1')}${cell('2')}</w:tr></w:tbl>`
    const ticked = sdt(run('☒'), '<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>')
    const body = sdt(sdt(p(run('Name: '), sdt(run('Ann'))))) + table + p(ticked, run('Paid'))
    expect(await textOf(body)).toBe('Name: Ann\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\n[x] Paid')
  })

  test('a cover with a picture and a title in a control', async () => {
    const picture =
      '<w:sdt><w:sdtPr><w:picture/></w:sdtPr><w:sdtContent><w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" descr="Our logo"/></wp:inline></w:drawing></w:r></w:sdtContent></w:sdt>'
    const title = `<w:sdt><w:sdtPr><w:alias w:val="Title"/></w:sdtPr><w:sdtContent>${paragraph('Annual Report', 'Title')}</w:sdtContent></w:sdt>`
    const file = await extract({ name: 'a.docx', bytes: docx(p(picture) + title + paragraph('x')) })
    expect(file).toMatchObject({ title: 'Annual Report', sections: [{ text: 'Our logo\n\n# Annual Report\n\nx' }] })
  })

  test('documents of other kinds that are set in', async () => {
    const more: More = {
      parts: {
        'word/a.html': '<html><body><h2>Terms</h2><p>Net 30 days.</p></body></html>',
        'word/b.rtf': '{\\rtf1 From {\\b rich} text.}',
        'word/c.docx': docx(paragraph('Inner', 'Heading1')),
      },
      relations: ['html', 'rtf', 'docx'].map((ending, at) => ({
        id: `c${at}`,
        type: 'aFChunk',
        target: `${'abc'[at]}.${ending}`,
      })),
    }
    const body = [0, 1, 2].map((at) => `<w:altChunk r:id="c${at}"/>`).join(paragraph('then'))
    expect(await textOf(body, more)).toBe('## Terms\n\nNet 30 days.\n\nthen\n\nFrom rich text.\n\nthen\n\n# Inner')
  })

  test('documents within documents are read a few deep', async () => {
    let inner = docx(paragraph('deepest'))
    for (const depth of [3, 2, 1])
      inner = docx(`${paragraph(`level ${depth}`)}<w:altChunk r:id="c"/>`, {
        parts: { 'word/c.docx': inner },
        relations: [{ id: 'c', type: 'aFChunk', target: 'c.docx' }],
      })
    const { sections } = await extract({ name: 'a.docx', bytes: inner })
    expect(sections[0]!.text).toBe('level 1\n\nlevel 2\n\nlevel 3')
  })

  test('the data of charts and the words of diagrams', async () => {
    const chart =
      '<c:chartSpace><c:chart><c:plotArea><c:barChart><c:ser><c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>12</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>'
    const diagram =
      '<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>'
    const more: More = {
      parts: { 'word/charts/c.xml': chart, 'word/d.xml': diagram },
      relations: [
        { id: 'c', type: 'chart', target: 'charts/c.xml' },
        { id: 'd', type: 'diagramData', target: 'd.xml' },
      ],
    }
    const drawing = (inner: string): string =>
      `<w:r><w:drawing><wp:inline><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
    expect(await textOf(p(run('See'), drawing('<c:chart r:id="c"/>'), drawing('<dgm:relIds r:dm="d"/>')), more)).toBe(
      'See\n\nChart\n\n| 1 | 12 |\n| --- | --- |\n\n- Plan',
    )
  })

  test('text that only stands in headers and footers is read', async () => {
    const more: More = {
      parts: { 'word/header1.xml': wordPart('hdr', paragraph('Acme Ltd')) },
      relations: [{ id: 'h', type: 'header', target: 'header1.xml' }],
    }
    expect(await textOf('<w:p/>', more)).toBe('Acme Ltd')
    expect(await textOf(paragraph('Letter'), more)).toBe('Letter')
  })

  test('endnotes and notes with links of their own', async () => {
    const body = p(
      run('Pay'),
      '<w:r><w:footnoteReference w:id="2"/></w:r>',
      '<w:r><w:endnoteReference w:id="2"/></w:r>',
    )
    const text = await textOf(body, {
      parts: {
        'word/footnotes.xml': wordPart(
          'footnotes',
          `<w:footnote w:id="2">${p('<w:hyperlink r:id="l">', run('The law'), '</w:hyperlink>')}</w:footnote>`,
        ),
        'word/_rels/footnotes.xml.rels': relations([
          { id: 'l', type: 'hyperlink', target: 'https://x.org/law', outside: true },
        ]),
        'word/endnotes.xml': wordPart('endnotes', `<w:endnote w:id="2">${paragraph('The end.')}</w:endnote>`),
      },
      relations: [
        { id: 'f', type: 'footnotes', target: 'footnotes.xml' },
        { id: 'e', type: 'endnotes', target: 'endnotes.xml' },
      ],
    })
    expect(text).toBe('Pay[1][2]\n\n1. [The law](https://x.org/law)\n2. The end.')
  })
})

describe('headings and tables', () => {
  test('headings by names in other languages, by outline level, and without styles', async () => {
    const styles = wordPart(
      'styles',
      '<w:style w:type="paragraph" w:styleId="a"><w:name w:val="Überschrift 2"/></w:style><w:style w:type="paragraph" w:styleId="b"><w:name w:val="标题 1"/></w:style>',
    )
    const more = {
      parts: { 'word/styles.xml': styles },
      relations: [{ id: 's', type: 'styles', target: 'styles.xml' }],
    }
    const direct = `<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr>${run('Three')}</w:p>`
    expect(
      await textOf(paragraph('Zwei', 'a') + paragraph('一', 'b') + direct + paragraph('Four', 'Heading4'), more),
    ).toBe('## Zwei\n\n# 一\n\n### Three\n\n#### Four')
  })

  const cell = (text: string, properties = ''): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`
  const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`
  const span = (columns: number): string => `<w:gridSpan w:val="${columns}"/>`

  test('a merged head stands over each of its columns', async () => {
    const table = `<w:tbl>${row(cell('Region', '<w:vMerge w:val="restart"/>'), cell('Sales', span(2)))}${row(cell('', '<w:vMerge/>'), cell('2023'), cell('2024'))}${row(cell('North'), cell('1'), cell('2'))}</w:tbl>`
    expect(await textOf(table)).toBe(
      '| Region | Sales | Sales |\n| --- | --- | --- |\n| Region | 2023 | 2024 |\n| North | 1 | 2 |',
    )
    const blank = `<w:tbl>${row(cell(''), cell('Sales', span(2)))}${row(cell('Region'), cell('2023'), cell('2024'))}${row(cell('North'), cell('1'), cell('2'))}</w:tbl>`
    expect(await textOf(blank)).toBe(
      '|  | Sales | Sales |\n| --- | --- | --- |\n| Region | 2023 | 2024 |\n| North | 1 | 2 |',
    )
  })

  test('rows that begin late and old merges keep their columns, deleted rows go', async () => {
    const late = `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell('x')}</w:tr>`
    const gone = `<w:tr><w:trPr><w:del w:id="1"/></w:trPr>${cell('gone')}</w:tr>`
    const old = row(cell('All', '<w:hMerge w:val="restart"/>'), cell('', '<w:hMerge/>'))
    expect(await textOf(`<w:tbl>${row(cell('A'), cell('B'))}${late}${gone}${old}</w:tbl>`)).toBe(
      '| A | B |\n| --- | --- |\n|  | x |\n| All |',
    )
  })
})

test('documents of the strict standard, with other prefixes', async () => {
  const document =
    '<x:document xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:body><x:p><x:pPr><x:pStyle x:val="Heading1"/></x:pPr><x:r><x:t>Strict</x:t></x:r></x:p></x:body></x:document>'
  expect(await textOf('', { parts: { 'word/document.xml': document } })).toBe('# Strict')
})

test('templates are read under any name of their main part', async () => {
  const bytes = zip({
    '[Content_Types].xml':
      '<Types><Override PartName="/word/main.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"/></Types>',
    '_rels/.rels': relations([{ id: 'r', type: 'officeDocument', target: 'word/main.xml' }]),
    'word/main.xml': wordPart('document', `<w:body>${paragraph('Dear all')}</w:body>`),
  })
  expect((await extract({ name: 'a.dotx', bytes })).sections).toMatchObject([{ text: 'Dear all' }])
})

describe('parts that fail', () => {
  const notes = { relations: [{ id: 'f', type: 'footnotes', target: 'footnotes.xml' }] }
  test('are named, and the rest is read', async () => {
    const deep = `${'<w:p>'.repeat(2000)}`
    const { sections, metadata } = await extract({
      name: 'a.docx',
      bytes: docx(paragraph('Read.'), { ...notes, parts: { 'word/footnotes.xml': wordPart('footnotes', deep) } }),
    })
    expect(sections).toMatchObject([{ text: 'Read.' }])
    expect(metadata).toEqual({ unreadable_parts: 'word/footnotes.xml' })
  })

  test('in every format of this kind', async () => {
    const odt = zip({
      mimetype: 'application/vnd.oasis.opendocument.text',
      'content.xml':
        '<office:document-content><office:body><office:text><text:p>Read.</text:p></office:text></office:body></office:document-content>',
      'styles.xml': '<a>'.repeat(2000),
    })
    expect(await extract({ name: 'a.odt', bytes: odt })).toMatchObject({
      sections: [{ text: 'Read.' }],
      metadata: { unreadable_parts: 'styles.xml' },
    })
  })

  test('one that is all there is fails the file', async () => {
    const bytes = docx('', { ...notes, parts: { 'word/footnotes.xml': '<a>'.repeat(2000) } })
    await expect(extract({ name: 'a.docx', bytes })).rejects.toMatchObject({ data: { reason: 'broken' } })
  })
})
