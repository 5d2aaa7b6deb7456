import { expect, test } from 'vitest'
import { extractiveModel } from '@inlay/extractive'
import { holdsValues, valuesIn } from '@inlay/extractive/internal/values'
import { cpuMsOf } from '../cpu-time.ts'
import { answer, refusal, wholeAnswer } from './found-passages.ts'

const minutes = {
  title: 'Minutes of the board',
  content:
    '# Minutes of the board\n\n## 2025-02-12\n\nAt the meeting were Mia Roth and Jan Oak. The budget was 18.000 €.\n\n' +
    '## 2025-02-19\n\nAt the meeting were Jan Oak and Ida Fern. A four-day week was tried by 10 to 15 people.\n',
  updated_at: '2025-03-01T00:00:00Z',
}

test('the answer names title, heading and date of its place, in the language of the question', async () => {
  expect(await wholeAnswer('Who was at the meeting on 12 February 2025?', minutes)).toBe(
    'At the meeting were Mia Roth and Jan Oak [1]. The budget was 18.000 € [1].\n\n— Minutes of the board › 2025-02-12, March 1, 2025',
  )
  const urlaub = {
    title: 'Urlaub',
    content: 'Alle Beschäftigten erhalten 30 Tage Urlaub im Jahr.',
    updated_at: '2025-03-01',
  }
  expect(await wholeAnswer('Wie viele Tage Urlaub erhalten die Beschäftigten im Jahr?', urlaub)).toBe(
    'Alle Beschäftigten erhalten 30 Tage Urlaub im Jahr [1].\n\n— Urlaub, 1. März 2025',
  )
})

test.each([
  'Was Mia Roth at the meeting on 2025-02-19?',
  'Was Ida Fern at the meeting on 12 Feb 2025?',
  'Who was at the meeting on 20 February 2025?',
  'Was the budget of the meeting 19,000 €?',
  'Was a five-day week tried at the meeting?',
])('refused where the date, the number or the person stands in no place together: %s', async (question) => {
  expect(await answer(question, minutes)).toBe(refusal)
})

test.each([
  ['Was Ida Fern at the meeting on 19/02/2025?', 'Ida Fern'],
  ['Was the budget at the meeting 18,000 €?', 'The budget was 18.000 €'],
  ['Was a 4-day week tried at the meeting?', 'A four-day week was tried'],
  ['Was the week tried by twelve people at the meeting?', '10 to 15 people'],
])('dates, numbers and amounts are compared as values: %s', async (question, quoted) => {
  expect(await answer(question, minutes)).toContain(quoted)
})

test.each([
  ['en', '18,000', '18000'],
  ['de', '18.000 €', 'achtzehntausend'],
  ['fr', 'quatre-vingt-dix-sept', '97'],
  ['de', '2 Millionen', '2.000.000'],
  ['en', '1.5 million', '1,500,000'],
  ['de', 'am 12. Februar 2025', '12.02.2025'],
  ['es', 'el 12 de febrero de 2025', '2025-02-12'],
  ['en', '12', 'from 10 to 15'],
  ['en', 'in 2025', '3 May 2025'],
])('in %s, %s is among %s', async (language, given, text) => {
  expect(holdsValues(await valuesIn(text, language), await valuesIn(given, language))).toBe(true)
  expect(holdsValues(await valuesIn('7', language), await valuesIn(given, language))).toBe(false)
})

// Ends in time only when the work is that of the length.
test.each(['12 ', '1-', 'may 1 ', '1/1/', '1 million ', '12.12.2025 ', 'twenty '])(
  'a text of many "%s" is read for dates and numbers',
  async (text) => {
    expect((await valuesIn(text.repeat(4_000), 'en')).spans.length).toBeGreaterThan(0)
  },
)

test('an answer has at most 60 words', async () => {
  const long = `The council of Brost ${'talked at great length about the lanterns of its piers and '.repeat(12)}went home.`
  for (const content of [long, 'The council of Brost talked about lanterns of its piers again. '.repeat(20)]) {
    const said = await wholeAnswer('What did the council of Brost say about lanterns on piers?', {
      title: 'Brost',
      content,
    })
    expect(said).toMatch(/^The council of Brost talked/)
    expect(said.replace(/ ?\[\d+\]/g, '').split(/\s+/).length).toBeLessThanOrEqual(60)
  }
})

test('a comparison, and what two of three words speak of, get links to the closest places', async () => {
  const ropes = {
    title: 'Ropes',
    content: '# Ropes\n\n## Cable\n\nA cable holds a ship.\n\n## Cutting\n\nA cutting is a short end of a rope.\n',
  }
  expect(await wholeAnswer('What is the difference between a cable and a cutting?', ropes)).toBe(
    'I am not sure. These places come closest:\n\n- Ropes › Cable [1].\n- Ropes › Cutting [1].',
  )
})

test('a list is shown only if it is the place that was asked for', async () => {
  const states = {
    title: 'Leave by state',
    content:
      '# Leave by state\n\n## Oregon\n\n- Up to 12 weeks of leave.\n- Up to 2 weeks for bonding.\n\n' +
      '## Colorado\n\n- Up to 16 weeks of leave.\n- Up to 4 weeks for care.\n',
  }
  expect(await answer('list all states', states)).not.toMatch(/weeks/)
  expect(await answer('List the leave in Colorado', states)).toBe(
    '- Up to 16 weeks of leave [1].\n- Up to 4 weeks for care [1].',
  )
})

test.each([
  ['Wer ist der Chef von allem?', 'Dazu habe ich in den Dokumenten keine Antwort gefunden.'],
  ['Qui est le directeur de la banque ?', 'Je n’ai pas trouvé de réponse à cette question dans les documents.'],
  ['¿Quién es el director de la banca?', 'No he encontrado una respuesta a esto en los documentos.'],
  ['Chi è il direttore della banca?', 'Non ho trovato una risposta nei documenti.'],
  ['Quem é o diretor da banca?', 'Não encontrei uma resposta para isto nos documentos.'],
  ['Wie is de directeur van de bank?', 'Ik heb hier in de documenten geen antwoord op gevonden.'],
  ['Vem är chef för banken?', 'Jag hittade inget svar på detta i dokumenten.'],
  ['Kto jest dyrektorem tego banku?', 'Nie znalazłem w dokumentach odpowiedzi na to pytanie.'],
  ['Кто такой директор этого банка?', 'Я не нашёл ответа на это в документах.'],
  ['谁是银行的行长？', '我在文档中没有找到这个问题的答案。'],
])('%s is refused in its language', async (question, refused) => {
  expect(await answer(question, { title: 'Ferries', content: 'Ferries sail twice a day.' })).toBe(refused)
})

test('a follow-up keeps the subject, and another name takes the place of the first', async () => {
  const content =
    '# Offices\n\n## Bergen\n\nThe office of Bergen has 40 desks. It opens at 8.\n\n## Oslo\n\nThe office of Oslo has 90 desks. It opens at 9.\n'
  const ask = async (...questions: string[]): Promise<string> => {
    const results = [{ document: 1, title: 'Offices', content }]
    const call = { toolCallId: 'c', toolName: 'internal_search' }
    const { content: parts } = await extractiveModel().doGenerate({
      prompt: [
        ...questions.flatMap((text, at) => [
          ...(at > 0
            ? [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: 'It has some.' }] }]
            : []),
          { role: 'user' as const, content: [{ type: 'text' as const, text }] },
        ]),
        { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', ...call, output: { type: 'text', value: JSON.stringify({ results }) } }],
        },
      ],
    })
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  }
  const first = 'How many desks does the office of Bergen have?'
  expect(await ask(first)).toContain('40 desks')
  expect(await ask(first, 'And when does it open?')).toContain('opens at 8')
  expect(await ask(first, 'And in Oslo?')).toContain('90 desks')
})

test.each(['phone 030-9001000', 'order 40-2024117'])('a code is no range that holds every number: %s', async (text) => {
  expect(holdsValues(await valuesIn(text, 'en'), await valuesIn('25000', 'en'))).toBe(false)
})

test('runs of white space in a table or in code cost no time', async () => {
  const table = {
    title: 'Vacaciones',
    content: `Los empleados tienen 23 días de vacaciones en 2025.\n\n\`\`\`\n${`nota 1${' '.repeat(990)}x\n`.repeat(8)}\`\`\`\n`,
    updated_at: '2025-03-01',
  }
  const ask = (): Promise<string> => wholeAnswer('¿Cuántos días de vacaciones tienen los empleados en 2025?', table)
  expect(await ask()).toContain('23 días')
  expect(await cpuMsOf(ask)).toBeLessThan(500)
})
