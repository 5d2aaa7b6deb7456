import fc from '../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { CitationPiece } from '@inlay/agent/internal/contracts/citations'
import { CitationFilter, type CitationMode } from '@inlay/agent/internal/citations/citation-filter'

const documents: Record<number, { document_id: string; link: string | null }> = {
  1: { document_id: 'leave', link: 'https://wiki.example.com/leave' },
  2: { document_id: 'carry', link: 'https://wiki.example.com/carry' },
  3: { document_id: 'unlinked', link: null },
  4: { document_id: 'leave', link: 'https://wiki.example.com/leave' },
  101: { document_id: 'law', link: 'https://law.example.org/a_(b)' },
}
const [leave, carry] = ['[[1]](https://wiki.example.com/leave)', '[[2]](https://wiki.example.com/carry)']

const make = (mode: CitationMode = 'link') => new CitationFilter({ mode, known: (number) => documents[number] })

const say = (tokens: readonly string[], mode: CitationMode = 'link') => {
  const citations = make(mode)
  return [...tokens.flatMap((token) => citations.push(token)), ...citations.end()]
}
const text = (pieces: readonly CitationPiece[]) =>
  pieces.map((piece) => (piece.type === 'text' ? piece.content : '')).join('')
const render = (source: string, mode: CitationMode = 'link') => text(say([source], mode))
const numbers = (source: string) => say([source]).flatMap((piece) => (piece.type === 'citation' ? [piece.number] : []))

describe('order of text and citations', () => {
  test('a citation comes after the text before it and right before its link', () => {
    const tokens = ['Full-time staff get 25 days', ' [', '1', ']', ' and may carry over five[2].']
    expect(say(tokens)).toEqual([
      { type: 'text', content: 'Full-time staff get 25 days' },
      { type: 'text', content: ' ' },
      { type: 'citation', number: 1, documentId: 'leave' },
      { type: 'text', content: leave },
      { type: 'text', content: ' and may carry over five' },
      { type: 'citation', number: 2, documentId: 'carry' },
      { type: 'text', content: ` ${carry}` },
      { type: 'text', content: '.' },
    ])
  })

  test('several numbers of one bracket are told first, then linked with single spaces between', () => {
    expect(say(['x [1,2, 3].'])).toEqual([
      { type: 'text', content: 'x ' },
      { type: 'citation', number: 1, documentId: 'leave' },
      { type: 'citation', number: 2, documentId: 'carry' },
      { type: 'citation', number: 3, documentId: 'unlinked' },
      { type: 'text', content: `${leave} ${carry} [[3]]()` },
      { type: 'text', content: '.' },
    ])
  })

  test('a document is told once for the whole answer, also under another number and in a later step', () => {
    const citations = make()
    const first = [...citations.push('a [1] b [1] c [4]'), ...citations.end()]
    const second = [...citations.push('d [4] e [2]'), ...citations.end()]
    expect(first.filter((piece) => piece.type === 'citation')).toHaveLength(1)
    expect(text(first)).toBe(`a ${leave} b ${leave} c [[4]](https://wiki.example.com/leave)`)
    expect(second.filter((piece) => piece.type === 'citation')).toEqual([
      { type: 'citation', number: 2, documentId: 'carry' },
    ])
    expect(citations.cited()).toEqual([
      { number: 1, documentId: 'leave' },
      { number: 2, documentId: 'carry' },
    ])
  })
})

describe('what is a marker', () => {
  test.each([
    '[1]',
    '[[1]]',
    '【1】',
    '［1］',
    '【【1】】',
    '[1】',
    '［1]',
    '[document 1]',
    '[Doc 1]',
    '[source 1]',
    '[1†source]',
    '【1†L3】',
    '【1†L3-L8】',
  ])('%s is', (marker) => {
    expect(render(`so ${marker}.`)).toBe(`so ${leave}.`)
    expect(numbers(`so ${marker}.`)).toEqual([1])
  })

  test.each([
    '[ 1 ]',
    '[]',
    '[1,  2]',
    '[^]',
    '[^1]',
    '[[^1]]',
    '[document]',
    '[documentary 1]',
    '[1-]',
    '[2-1-]',
    '[a1]',
  ])('%s is not', (marker) => {
    expect(render(`so ${marker}.`)).toBe(`so ${marker}.`)
  })

  test.each(['[1;2]', '[1; 2]', '[1-2]', '[1–2]', '[document 1, document 2]'])('%s is two', (marker) => {
    expect(render(`so ${marker}.`)).toBe(`so ${leave} ${carry}.`)
    expect(numbers(`so ${marker}.`)).toEqual([1, 2])
  })

  test('a link a model wrote itself in the rendered form gets the true address', () => {
    expect(render('so [[1]](https://made.up/x_(y)), yes')).toBe(`so ${leave}, yes`)
    expect(render('so [[9]](https://made.up), yes')).toBe('so , yes')
    expect(render('so [[1]](two words), yes')).toBe(`so ${leave}(two words), yes`)
  })

  test('a number that is the text of a Markdown link is not', () => {
    expect(render('see [1](http://x.test) and [2].')).toBe(`see [1](http://x.test) and ${carry}.`)
  })

  test('a list of numbers too long to be a citation is not', () => {
    const list = `[${Array.from({ length: 80 }, () => '1').join(', ')}]`
    expect(render(`so ${list}`)).toBe(`so ${list}`)
  })
})

describe('unknown numbers', () => {
  test('are dropped where a citation would stand', () => {
    expect(render('A [9] b. [8] c "d" [7]')).toBe('A  b.  c "d" ')
    expect(render('A [1][9], b [1] [9]')).toBe(`A ${leave}, b ${leave} `)
    expect(render('A [9, 2]')).toBe(`A ${carry}`)
  })

  test('stay directly after a word, and wherever no citation would stand', () => {
    for (const source of ['arr[0] = 1', 'x = [9]', '- [9] item', 'values: [8, 9]', 'f()[0]', '\n[9]: note'])
      expect(render(source)).toBe(source)
  })

  test('are dropped before all text, where models copy them from their instructions', () => {
    expect(render('[9][8] 28 days [1].')).toBe(` 28 days ${leave}.`)
    expect(render('【9】28 days')).toBe('28 days')
  })

  test('are never told', () => expect(numbers('A [9] b [10] arr[0]')).toEqual([]))
})

describe('code', () => {
  test('fenced code is left alone, and a fence without a language is plaintext', () => {
    expect(render('a [1]\n```\nx[1] [2]\n```\nb [2]')).toBe(`a ${leave}\n\`\`\`plaintext\nx[1] [2]\n\`\`\`\nb ${carry}`)
    expect(render('```js title="[1]"\nx[1] `[2]`\n```')).toBe('```js title="[1]"\nx[1] `[2]`\n```')
    expect(render('~~~\nx[1]\n~~~\n[1]')).toBe(`~~~\nx[1]\n~~~\n${leave}`)
  })

  test('a longer fence holds shorter ones; text right behind the closing fence counts again', () => {
    expect(render('````md\n```\n[1]\n```\n````\n[1]')).toBe(`\`\`\`\`md\n\`\`\`\n[1]\n\`\`\`\n\`\`\`\`\n${leave}`)
    expect(render('```js\nx\n``` [1]')).toBe(`\`\`\`js\nx\n\`\`\` ${leave}`)
  })

  test('inline code is left alone, an unpaired backtick is not code', () => {
    expect(render('use `x[1]` [1]')).toBe(`use \`x[1]\` ${leave}`)
    expect(render('use ``a ` [1]`` [1]')).toBe(`use \`\`a \` [1]\`\` ${leave}`)
    expect(render('a ` alone [1]\nb ` too [2]')).toBe(`a \` alone ${leave}\nb \` too ${carry}`)
    expect(render('a ` alone, ``[1]`` [2]')).toBe(`a \` alone, \`\`[1]\`\` ${carry}`)
  })

  test('fence marks in a sentence open nothing', () => {
    expect(render('Write ``` to begin.\nThen [1].')).toBe(`Write \`\`\` to begin.\nThen ${leave}.`)
    expect(render('Like: ```\nx[1]\n```\n[1]')).toBe(`Like: \`\`\`plaintext\nx[1]\n\`\`\`\n${leave}`)
  })
})

describe('modes', () => {
  test('keep leaves every marker, tells nothing, and still knows what was cited', () => {
    const citations = make('keep')
    expect(text([...citations.push('a [1, 9] b [9] `c[2]` [2]'), ...citations.end()])).toBe('a [1, 9] b [9] `c[2]` [2]')
    expect(citations.cited().map((citation) => citation.number)).toEqual([1, 2])
  })

  test('remove takes the space before a marker along when punctuation, space or nothing follows', () => {
    expect(render('25 days [1] and five[2].', 'remove')).toBe('25 days and five.')
    expect(render('a [1] [2], b [1][9]! c [1]d [2]', 'remove')).toBe('a, b! c d')
    expect(render('arr[0] `x [1]` [1]', 'remove')).toBe('arr[0] `x [1]`')
    expect(say(['25 days [1].'], 'remove').every((piece) => piece.type === 'text')).toBe(true)
  })

  test('an answer of nothing but markers is sent as the model wrote it', () => {
    expect(render('[1][2]', 'remove')).toBe('[1][2]')
  })
})

test('the address of a link cannot break out of its parentheses', () => {
  const broken = new CitationFilter({ mode: 'link', known: () => ({ document_id: 'd', link: 'http://x/a b)c\n' }) })
  expect(text([...broken.push('[1]'), ...broken.end()])).toBe('[[1]](http://x/a%20b%29c%0A)')
  expect(render('[101]')).toBe('[[101]](https://law.example.org/a_(b))')
})

describe('streaming', () => {
  test('text is released as soon as it cannot become a marker', () => {
    const citations = make()
    expect(text(citations.push('See [a'))).toBe('See [a')
    expect(text(citations.push('] and [1'))).toBe('] and ')
    expect(text(citations.push('2 apples'))).toBe('[12 apples')
    expect(text(citations.push(' `code [x'))).toBe(' `code [x')
    expect(text(citations.push(' ['))).toBe(' ')
    expect(text(citations.end())).toBe('[')
  })

  const fragments = [
    '[1]',
    '[2',
    ']',
    '[',
    '【1】',
    '[[1]]',
    '(',
    ')',
    '](u)',
    ' ',
    '\n',
    '`',
    '``',
    '```',
    '```js',
    '~~~',
    'word',
    '.',
    ', ',
  ]
  const soup = fc.array(fc.constantFrom(...fragments, '[9]', '9', '1, 2', '> ', '- ', '[1](', 'x'), { maxLength: 30 })

  test.each(['link', 'keep', 'remove'] as const)('any split gives the same text and citations (%s)', (mode) => {
    const flat = (pieces: readonly CitationPiece[]) =>
      JSON.stringify(
        pieces.reduce<(string | number)[]>((all, piece) => {
          const last = all.at(-1)
          if (piece.type === 'citation') all.push(piece.number)
          else if (typeof last === 'string') all[all.length - 1] = last + piece.content
          else all.push(piece.content)
          return all
        }, []),
      )
    fc.assert(
      fc.property(soup, fc.array(fc.nat({ max: 6 })), (parts, sizes) => {
        const source = parts.join('')
        const tokens: string[] = []
        for (let at = 0, turn = 0; at < source.length; turn++) {
          const size = (sizes[turn % (sizes.length || 1)] ?? 0) + 1
          tokens.push(source.slice(at, at + size))
          at += size
        }
        expect(flat(say(tokens, mode))).toBe(flat(say([source], mode)))
      }),
      { numRuns: 2_000, examples: [[['[1]', '[2', '- ', '9', ']'], []]] },
    )
  })

  test('a number in the links of an answer always names a known document', () => {
    fc.assert(
      fc.property(soup, (parts) => {
        for (const piece of say(parts))
          if (piece.type === 'citation') expect(documents[piece.number]?.document_id).toBe(piece.documentId)
      }),
    )
  })
})
