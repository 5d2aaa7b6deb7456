import { expect, test } from 'vitest'
import { lengthInWords } from '@inlay/text'
import { answer, refusal } from './found-passages.ts'

const bridge = {
  title: 'Old Bridge',
  content:
    'The Old Bridge crosses the river Arno at its narrowest point. It was rebuilt in 1345 after a flood carried the wooden one away. ' +
    'Forty-one shops stood on it in 1593, when butchers were told to leave. Goldsmiths took their places.',
}
const harbour = {
  title: 'Harbour',
  content: 'The harbour has nine berths for freighters. Its cranes lift forty tonnes. A ferry leaves every morning.',
}

test('the sentence with the fact that was asked for comes first, with its source', async () => {
  expect(await answer('How many berths does the harbour have?', bridge, harbour)).toMatch(
    /^The harbour has nine berths for freighters \[2\]\./,
  )
  expect(await answer('When was the Old Bridge rebuilt after the flood?', harbour, bridge)).toContain(
    'It was rebuilt in 1345 after a flood carried the wooden one away [2].',
  )
})

test('a question whose answer stands nowhere gets no quotation', async () => {
  for (const question of [
    'Who painted the ceiling of the chapel?',
    'How do I restart the mail daemon with systemctl?',
    'What is the boiling point of tungsten?',
  ])
    expect(await answer(question, bridge, harbour)).toBe(refusal)
})

test('questions in other languages are answered from documents in them', async () => {
  const hafen = {
    title: 'Hafen',
    content:
      'Der Hafen hat neun Liegeplätze für Frachter. Seine Kräne heben vierzig Tonnen. Jeden Morgen legt eine Fähre ab.',
  }
  expect(await answer('Wie viele Liegeplätze hat der Hafen?', hafen)).toMatch(
    /Der Hafen hat neun Liegeplätze für Frachter \[1\]\./,
  )
  const port = {
    title: 'Puerto',
    content: 'El puerto tiene nueve muelles para cargueros. Sus grúas levantan cuarenta toneladas cada hora.',
  }
  expect(await answer('¿Cuántas toneladas levantan las grúas del puerto?', port)).toContain(
    'Sus grúas levantan cuarenta toneladas cada hora [1].',
  )
  const gang = { title: '港口', content: '港口有九个货船泊位。它的起重机能吊起四十吨。每天早上有一班渡轮出发。' }
  expect(await answer('港口的起重机能吊起多少吨？', gang)).toContain('起重机能吊起四十吨 [1]。')
})

test('a fact that was asked for is not looked for among commands, nor steps in a story', async () => {
  const command = {
    title: 'prime',
    content:
      '# prime\n\n- Generate a large prime number:\n\n`prime --generate`\n\n- Check whether a number is prime:\n\n`prime 7`',
  }
  expect(await answer('What is the only divisor besides 1 that a prime number can have?', command)).toBe(refusal)
  expect(await answer('How do I display the arches of the bridge with arcview?', bridge)).toBe(refusal)
})

test('an item that ends in a colon is quoted with the command it leads to', async () => {
  const page = {
    title: 'docker stop',
    content:
      '# docker stop\n\n> Stop containers.\n\n- Stop one or more running containers:\n\n`docker stop {{container1 container2 ...}}`\n\n' +
      '- Stop a container with a time limit:\n\n```sh\ndocker stop --time {{seconds}} {{container}}\n```\n',
  }
  expect(await answer('How do I stop a container with a time limit?', page)).toContain(
    'Stop a container with a time limit [1]:\n\n```sh\ndocker stop --time {{seconds}} {{container}}\n```',
  )
})

test('a character of a script without spaces counts as part of a word', () => {
  expect(lengthInWords('nine berths for freighters')).toBe(4)
  expect(lengthInWords('港口有九个货船泊位')).toBeCloseTo(3.6)
})

test('a single short document answers too', async () => {
  const leave = { title: 'Leave policy', content: 'Full-time staff receive 25 days of paid leave a year.' }
  for (const question of [
    'How many days of leave?',
    'How many days of leave do staff get?',
    'How much paid leave is there?',
  ])
    expect(await answer(question, leave)).toContain('Full-time staff receive 25 days of paid leave a year [1].')
  expect(await answer('Who runs the canteen?', leave)).toMatch(/could not find/)
})

test('a passage that speaks of all that was asked comes before one that the search ranked higher', async () => {
  const repairs = {
    title: 'Repairs',
    content: 'Repairs of the bridge went on for years. The bridge was closed to carts, and repairs cost a fortune.',
  }
  const mason = {
    title: 'Masons',
    content: 'The mason Tadeo Gaddi led the repairs of the bridge after the great flood. He was paid in grain.',
  }
  expect(await answer('Who led the repairs of the bridge after the great flood?', repairs, mason)).toMatch(
    /^The mason Tadeo Gaddi led the repairs of the bridge after the great flood \[2\]\./,
  )
})

test.each([
  [
    'Сколько кранов в порту?',
    'Порт открыт зимой. В порту работают 7 кранов. Суда приходят утром.',
    'В порту работают 7 кранов',
  ],
])('a number is asked for in more languages: %s', async (question, content, quoted) => {
  expect(await answer(question, { title: 'x', content })).toContain(quoted)
})

test('a question about a name that stands nowhere gets no quotation', async () => {
  for (const question of [
    'Who rebuilt the Charles Bridge of Prague after the flood?',
    'How many berths does the harbour of Rotterdam have for Maersk?',
  ])
    expect(await answer(question, bridge, harbour)).toBe(refusal)
})

test('a slip in a word is forgiven wherever in the word it is', async () => {
  const workshop = {
    title: 'Workshop',
    content: 'Anna Corvey repaired every clock of the town. The broken spectroscope is kept in her attic.',
  }
  expect(await answer('Where is the spetroscope kept?', harbour, bridge, workshop)).toContain(
    'The broken spectroscope is kept in her attic [3].',
  )
  const werkstatt = {
    title: 'Werkstatt',
    content: 'Anna Corvey setzte alle Uhren instand. Das Spektroskop liegt noch immer auf dem Dachboden.',
  }
  expect(await answer('Wo liegt das Spetroskop?', werkstatt)).toContain('Das Spektroskop liegt noch immer')
})
