import { expect, test } from 'vitest'
import { createSupport } from '@inlay/text/comparison'

const texts = [
  {
    source: 'harbour',
    about: 'Port of Nordhavn',
    text: `## History
The port was founded in 1867 by Clara Jensen. In 1902 the city bought 14 cranes from Krupp and 3 tugs from Blohm.
Trucks over 40 tonnes may not enter the old quay. Containers are stored for up to 1,200 days.

- Run \`port-ctl berth --free\` to list the berths that are free.`,
  },
  {
    source: 'library',
    about: 'City library',
    text: 'The library lends 40,000 books. Members may keep a book for four weeks.',
  },
  { source: 'zh', text: '港口于1867年由克拉拉创建。重型卡车不能进入旧码头。' },
]
const find = (sentence: string): string | undefined => createSupport(texts)(sentence)?.source

test.each([
  ['as it stands', 'The port was founded in 1867 by Clara Jensen.', 'harbour'],
  ['in another order', 'In 1867, Clara Jensen founded the port.', 'harbour'],
  ['with other small words and endings', 'Containers can be stored there up to 1200 days.', 'harbour'],
  ['two sentences in one', 'The library lends 40,000 books, which members may keep for 4 weeks.', 'library'],
  ['a number in words', 'In 1902 the city bought fourteen cranes from Krupp and three tugs from Blohm.', 'harbour'],
  ['with a name from the title', 'Nordhavn was founded in 1867 by Clara Jensen.', 'harbour'],
  ['with emphasis and code', '**Run** `port-ctl berth --free` to list free berths.', 'harbour'],
  ['a negation that agrees', "Trucks over 40 tonnes mustn't enter the old quay.", 'harbour'],
  ['in a script without spaces', '港口于1867年由克拉拉创建。', 'zh'],
])('finds a sentence: %s', (_, sentence, source) => {
  expect(find(sentence)).toBe(source)
})

test.each([
  ['another number', 'The port was founded in 1868 by Clara Jensen.'],
  ['another name', 'The port was founded in 1867 by Clara Hansen.'],
  ['a name in the place of another', 'In 1902 the city bought 14 cranes from Blohm and 3 tugs from Krupp.'],
  ['numbers that changed places', 'In 1902 the city bought 3 cranes from Krupp and 14 tugs from Blohm.'],
  ['a negation that is gone', 'Trucks over 40 tonnes may enter the old quay.'],
  ['a negation that was added', 'Containers are not stored for up to 1,200 days.'],
  ['the opposite word', 'Trucks under 40 tonnes may not enter the old quay.'],
  ['a negation in a script without spaces', '重型卡车能进入旧码头。'],
  ['what no text says', 'The port closes its gates at night because of the fog.'],
  ['too little to tell', 'The port.'],
])('finds no text for %s', (_, sentence) => {
  expect(find(sentence)).toBeUndefined()
})

const question = 'How long are containers kept at the terminal?'
const answering = (sentence: string): string | undefined => createSupport(texts, { question })(sentence)?.source

test('finds an answer that says the words of the question again', () => {
  const sentence = 'At the terminal, containers are stored for up to 1,200 days.'
  expect(answering(sentence)).toBe('harbour')
  expect(find(sentence)).toBeUndefined()
})

test.each([
  ['nothing new', 'Containers are kept long at the terminal.'],
  ['another number', 'At the terminal, containers are stored for up to 1,300 days.'],
  ['a negation', 'At the terminal, containers are not stored for up to 1,200 days.'],
  ['what no text says', 'At the terminal, containers are kept until a crane lifts them.'],
])('finds no text for an answer with %s', (_, sentence) => {
  expect(answering(sentence)).toBeUndefined()
})

test.each([
  ['its code stands there', 'To see which berths are free, run the command `port-ctl berth --free`.', 'harbour'],
  ['its code differs', 'To see which berths are free, run the command `port-ctl berth --all`.', undefined],
  [
    'little else stands there',
    'To see which berths are free, ask the night guard for a `port-ctl berth --free` sheet.',
    undefined,
  ],
])('an answer whose other words partly stand in a text, where %s', (_, sentence, source) => {
  const find = createSupport(texts, { question: 'How do I see which berths are free?' })
  expect(find(sentence)?.source).toBe(source)
})

test('code is the same only as a whole', () => {
  const text = 'To limit the rate, run `limit --rate 50`.'
  const find = createSupport([{ source: 'limits', text }], { question: 'How do I limit the rate of calls?' })
  expect(find('To limit the rate, run `limit --rate 50`.')?.source).toBe('limits')
  for (const code of ['limit --rate 5', 'limit --rat', 'imit --rate 50']) {
    expect(find(`To limit the rate, run \`${code}\`.`)).toBeUndefined()
  }
})

test.each([
  ['a number before the name of its column', 'Hall B has 24 places.', 'rooms'],
  ['a number of another column', 'Hall B has 3 places.', undefined],
  ['a number before the name in prose', 'Hall D has 6 places.', undefined],
])('compares with a row: %s', (_, sentence, source) => {
  const text = `| Room | Key kept by | Doors | Opened by | Places |
|---|---|---|---|---|
| Hall B | Mira Lindqvist | 3 | Clara Jensen | 24 |
| Hall C | Joon Park | 2 | Ines Duarte | 16 |

Hall D: Joon Park calls places 6.`
  expect(createSupport([{ source: 'rooms', text }])(sentence)?.source).toBe(source)
})

const workshop = `| Room | Key kept by | Opening hours | Places |
|---|---|---|---|
| Hall A | Mira Lindqvist | 6:30 to 18:00 | 24 |
| Hall B | Joon Park | 7:00 to 16:30 | 18 |`
const prices = `| Article | Name | Unit price EUR | Stock | Delivery days |
|---|---|---|---|---|
| K-325 | Cable drum 25 m | 39.90 | 0 | 14 |
| K-355 | Tool trolley | 412.00 | 5 | 7 |`
const inTables = createSupport([
  { source: 'workshop', about: 'Workshop rules', text: workshop },
  { source: 'prices', about: 'prices.csv', text: prices },
])
const rules = `# Ausleihe

Werkzeug wird höchstens zehn Tage ausgeliehen. Wer es später zurückbringt, zahlt 4 Euro je Tag.

Broken machines get a red tag and are reported by the phone number 4417. Notice is 30 days.

Machines are not rented for 20 days.`
const answered = (question: string, sentence: string): string | undefined =>
  createSupport(
    [
      { source: 'workshop', about: 'Workshop rules', text: workshop },
      { source: 'prices', about: 'prices.csv', text: prices },
      { source: 'rules', text: rules },
    ],
    { question },
  )(sentence)?.source

test.each([
  ['a number of its column', 'Hall A has 24 places.', 'workshop'],
  ['a part of a time', 'Hall A has 18 places.', undefined],
  ['a time', 'Hall A is open from 6:30 to 18:00.', 'workshop'],
  ['another time', 'Hall A is open from 6:30 to 18:30.', undefined],
  ['a name of its column', 'The key of Hall B is kept by Joon Park.', 'workshop'],
  ['the name of another row', 'The key of Hall B is kept by Mira Lindqvist.', undefined],
  ['a row whose name ends in the letter A', 'The key of Hall A is kept by Joon Park.', undefined],
  ['the number of the next column', 'The tool trolley has 5 delivery days.', undefined],
  ['none where the cell is zero', 'The cable drum is not in stock.', 'prices'],
  ['no, where the cell is zero', 'No, the cable drum is not in stock.', 'prices'],
  ['zero', 'The cable drum has a stock of 0.', 'prices'],
  ['some where the cell is zero', 'The cable drum is in stock.', undefined],
  ['none where the cell is not zero', 'The tool trolley is not in stock.', undefined],
  ['some where the cell is not zero', 'The tool trolley is in stock.', 'prices'],
])('a statement about a row: %s', (_, sentence, source) => {
  expect(inTables(sentence)?.source).toBe(source)
})

test.each([
  ['with the unit of its column', 'The tool trolley costs 412.00 EUR.', 'prices'],
  ['without its decimals', 'The tool trolley costs 412 euros.', 'prices'],
  ['with a sign', 'The tool trolley costs €412.', 'prices'],
  ['of another row', 'The tool trolley costs 39.90 EUR.', undefined],
  ['of another column', 'The tool trolley costs 5 EUR.', undefined],
  ['without a unit, which could stand in any column', 'The tool trolley costs 5.', undefined],
])('a price whose verb stands in no table: %s', (_, sentence, source) => {
  expect(answered('What does the tool trolley cost?', sentence)).toBe(source)
})

test('a sentence that says three cells of a row may name what no column names', () => {
  const question = 'Which article has the number K-325?'
  const sentence = 'The article with the number K-325 is the cable drum 25 m, which costs 39.90 EUR.'
  expect(answered(question, sentence)).toBe('prices')
  expect(answered(question, sentence.replace('39.90', '412.00'))).toBeUndefined()
})

test.each([
  ['Which number do I call about a broken machine?', 'You call 4417.', 'rules'],
  ['Which number do I call about a broken machine?', 'You call 4418.', undefined],
  ['How many places does Hall A have?', '24.', 'workshop'],
  ['How many places does Hall A have?', '18.', undefined],
  ['When does Hall B open?', 'At 7:00.', 'workshop'],
  ['When does Hall B open?', 'At 7:30.', undefined],
  ['Who keeps the key of Hall B?', 'Joon Park.', 'workshop'],
  ['Who keeps the key of Hall B?', 'Mira Lindqvist.', undefined],
  ['What does the tool trolley cost?', '412 EUR.', 'prices'],
  ['What does the tool trolley cost?', '5 EUR.', undefined],
  ['Wie lange darf ich Werkzeug ausleihen?', 'Zehn Tage.', 'rules'],
  ['Wie lange darf ich Werkzeug ausleihen?', 'Vier Tage.', undefined],
  ['Was kostet es, wenn ich es später zurückbringe?', 'Es kostet 4 Euro je Tag.', 'rules'],
  ['How many days are machines reported?', '30 days.', undefined],
  ['How many days are machines rented?', '20 days.', undefined],
  ['Who keeps the key of Hall B?', 'The key.', undefined],
])('a short answer is compared with its question: %s %s', (question, sentence, source) => {
  expect(answered(question, sentence)).toBe(source)
})

test.each([
  ['that tells where it is written', 'The workshop rules state that broken machines get a red tag.', 'rules'],
  [
    'that tells where it is written, and errs',
    'The workshop rules state that broken machines get a blue tag.',
    undefined,
  ],
  ['that names the kind of its code', 'The `tail` command prints the last 10 lines of each file by default.', 'tail'],
  ['that names the kind of its code, and errs', 'The `tail` command prints the last 20 lines of each file.', undefined],
])('a sentence %s', (_, sentence, source) => {
  const find = createSupport(
    [
      { source: 'rules', text: rules },
      { source: 'tail', about: 'tail', text: 'Print the last 10 lines of each FILE to standard output.' },
    ],
    { question: 'How many lines does tail print by default, and what do the rules say?' },
  )
  expect(find(sentence)?.source).toBe(source)
})

test('compares amounts as languages write them', () => {
  const find = createSupport([
    { source: 'loans', text: 'Werkzeug wird höchstens zehn Tage ausgeliehen. Danach kostet es 4,50 Euro je Tag.' },
  ])
  expect(find('Das Werkzeug wird 10 Tage ausgeliehen.')?.source).toBe('loans')
  expect(find('Das Werkzeug wird 11 Tage ausgeliehen.')).toBeUndefined()
  expect(find('Danach kostet es 4.50 EUR je Tag.')?.source).toBe('loans')
  expect(find('Danach kostet es 4,60 € je Tag.')).toBeUndefined()
})

const warranty = 'The warranty of the pump covers 24 months from delivery.'

test.each([
  ['The contract states that the warranty of the pump covers 24 months from delivery.', 'warranty'],
  ['The delivery contract also says that the warranty of the pump covers 24 months from delivery.', 'warranty'],
  ['According to page 4 of the contract, the warranty of the pump covers 24 months from delivery.', 'warranty'],
  ['It says that the warranty of the pump covers 24 months from delivery.', 'warranty'],
  ['Der Vertrag besagt, dass die Garantie der Pumpe 24 Monate ab Lieferung gilt.', 'garantie'],
  ['The contract does not state that the warranty of the pump covers 24 months from delivery.', undefined],
  ["The contract doesn't say that the warranty of the pump covers 24 months from delivery.", undefined],
  ['No document says that the warranty of the pump covers 24 months from delivery.', undefined],
  ['The documents never mention that the warranty of the pump covers 24 months from delivery.', undefined],
  ['None of the documents on these pages mentions that the warranty of the pump covers 24 months.', undefined],
  ['Nowhere in the contract is it stated that the warranty of the pump covers 24 months from delivery.', undefined],
  ['Kein Dokument besagt, dass die Garantie der Pumpe 24 Monate ab Lieferung gilt.', undefined],
  ['Der Vertrag besagt nicht, dass die Garantie der Pumpe 24 Monate ab Lieferung gilt.', undefined],
  ['Alice says that the blue key opens the north gate at night.', 'keys'],
  ['Bob says that the blue key opens the north gate at night.', undefined],
  ['According to Bob, the blue key opens the north gate at night.', undefined],
])('who says it, and whether: %s', (sentence, source) => {
  const find = createSupport([
    { source: 'warranty', text: warranty },
    { source: 'garantie', text: 'Die Garantie der Pumpe gilt 24 Monate ab Lieferung.' },
    { source: 'keys', text: 'Alice says that the blue key opens the north gate at night.' },
  ])
  expect(find(sentence)?.source).toBe(source)
})

const seats =
  '| Room | Seats | Price | Opened by | Closed by |\n|---|---|---|---|---|\n| Hall | 80 | 120 | Ines Duarte | Joon Park |'
const fees = '| Room | Price EUR | Deposit EUR |\n|---|---|---|\n| Cellar | 30 | 50 |'
const pump = 'The warranty of the pump covers 12 months, and that of the filter 24 months.'
const members = 'Members pay 10 euros a month for the gym, guests pay 25 euros.'

test.each([
  ['its column', seats, 'How many seats does the Hall have?', '80.', true],
  ['another column', seats, 'How many seats does the Hall have?', '120.', false],
  ['a name of its column', seats, 'Who opens the Hall?', 'Ines Duarte.', true],
  ['a name of another column', seats, 'Who opens the Hall?', 'Joon Park.', false],
  ['one of two columns of its unit', fees, 'What is the price of the Cellar?', '30 EUR.', true],
  ['the other column of its unit', fees, 'What is the price of the Cellar?', '50 EUR.', false],
  [
    'another hall',
    'Hall A has 80 seats, Hall B has 120 seats.',
    'How many seats does Hall A have?',
    '120 seats.',
    false,
  ],
  ['the only hall', 'Since 1990, Hall A has 80 seats.', 'How many seats does Hall A have?', '80 seats.', true],
  ['another part', pump, 'How long does the warranty of the pump last?', '24 months.', false],
  [
    'another part, in short',
    pump.replace('24 months', '24'),
    'How many months is the warranty of the pump?',
    '24 months.',
    false,
  ],
  ['other people', members, 'How much do members pay for the gym?', '25 euros.', false],
  ['both ends of a range', 'The gym is open for 10 to 12 hours.', 'How long is the gym open?', '10 to 12 hours.', true],
])('a short answer with the number of %s', (_, text, question, sentence, isSupported) => {
  expect(createSupport([{ source: 'text', text }], { question })(sentence) !== undefined).toBe(isSupported)
})

test.each([
  [
    'The office closes for 7 days in winter for the repair of the heating.',
    'The office closes in Sept for days in winter for the repair of the heating.',
    false,
  ],
  [
    'The office closes for 7 days in winter for the repair.',
    'The office closes for seven days in winter for the repair.',
    true,
  ],
  [
    'Le bureau est fermé pendant 7 jours en hiver pour la réparation.',
    'Le bureau est fermé pendant sept jours en hiver pour la réparation.',
    true,
  ],
  [
    'Das Büro ist im Winter 8 Tage wegen der Reparatur geschlossen.',
    'Das Büro ist im Winter acht Tage wegen der Reparatur geschlossen.',
    true,
  ],
  ['Notice period: 10 days', 'Notice period is ten days.', true],
])('a number in words is one of its language: %s %s', (text, sentence, isSupported) => {
  expect(createSupport([{ source: 'text', text }])(sentence) !== undefined).toBe(isSupported)
})
