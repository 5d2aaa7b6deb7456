import { expect, test } from 'vitest'
import { answer, refusal, type Passage } from './found-passages.ts'

const ferries = {
  title: 'Ferries',
  content:
    '# Ferries\n\n## Winter\n\nFerries to Aldersund sail twice a day in winter. Tickets are sold on board.\n\n' +
    '## Bicycles\n\nBicycles travel on the lower deck. A bicycle needs a ticket of its own.\n\n' +
    '## Dogs\n\nDogs stay on the upper deck. Bicycles and dogs may not share a cabin.\n',
}
const robots = {
  title: 'Robots for rent',
  content:
    '# Robots for rent\n\n| Robot | Price | Weight | Battery |\n|---|---|---|---|\n| Heron | €1,200 | 14 kg | 3 h |\n' +
    '| Wren | €950.50 | 6 kg | 45 min |\n| Crane | €4,000 | 88 kg | 9 h |\n',
}

test('a name, a number or a code of the question that stands nowhere is refused', async () => {
  expect(await answer('How often do ferries to Bergskar sail in winter?', ferries)).toBe(refusal)
  expect(await answer('What does error E4711 of the ferries mean?', ferries)).toBe(refusal)
})

test('one sure sentence is quoted alone', async () => {
  expect(await answer('How often do ferries to Aldersund sail in winter?', ferries)).toBe(
    'Ferries to Aldersund sail twice a day in winter [1].',
  )
})

test('questions that a page lists are shown, but no question answers one', async () => {
  const interviews = {
    title: 'Interviews',
    content:
      '# Interviews\n\nThe interview questions are:\n\n- Why do you want to work for us?\n- Which machines can you run?\n' +
      '- When can you start?\n',
  }
  const said = await answer('What are the interview questions?', interviews)
  expect(said).toContain('Which machines can you run [1]?')
  expect(said).toContain('When can you start [1]?')
})

test('a reason is sure only in a sentence that gives one', async () => {
  const fees = { title: 'Fees', content: '# Fees\n\nResidents pay 30 euros a year. Guests pay nothing.\n' }
  expect(await answer('Why do residents pay?', fees)).toMatch(/^The closest passage/)
})

test('a number in words answers how long', async () => {
  const leave = { title: 'Leave', content: '# Leave\n\nParental leave lasts sixteen weeks. Parental leave is paid.\n' }
  expect(await answer('How long is parental leave?', leave)).toBe('Parental leave lasts sixteen weeks [1].')
})

test('a citation does not split an ellipsis', async () => {
  const usage = { title: 'copy', content: '# copy\n\nCall it as: copy SOURCE TARGET...\n' }
  expect(await answer('How do I copy a source to a target?', usage)).toContain('copy SOURCE TARGET... [1]')
})

test('the closest passages are quoted with page and heading, each with its citation', async () => {
  const said = await answer('Where do bicycles and strollers stay on deck?', ferries)
  expect(said).toMatch(/^The closest passages are:/)
  expect(said).toContain('**Ferries › Bicycles**\n\n> Bicycles travel on the lower deck [1].')
  expect(said.match(/^\*\*/gm)!.length).toBeLessThanOrEqual(3)
  for (const line of said.split('\n').filter((line) => /^> \w/.test(line))) expect(line).toMatch(/\[1\]\.$/)
})

test('all of a list or table are listed', async () => {
  const said = await answer('List all robots', robots, ferries)
  for (const name of ['Heron', 'Wren', 'Crane']) expect(said).toMatch(new RegExp(`^- ${name}: .*\\[1\\]\\.$`, 'm'))
})

test('a document that the search calls replaced is not read', async () => {
  const policy = (year: number, days: number): Passage => ({
    title: `Remote work policy ${year}`,
    content: `Staff may work remotely ${days} days a week. Ask your manager before the first week begins.`,
    updated_at: `${year}-01-01T00:00:00Z`,
    ...(year < 2025 && { replaced_by: 'Remote work policy 2025' }),
  })
  const said = await answer('How many days a week may staff work remotely?', policy(2022, 2), policy(2025, 3))
  expect(said).toContain('3 days a week [2]')
  expect(said).not.toContain('2 days')
})

const wordsOf = (text: string): number => text.match(/[^\s>[\]]+/g)!.length

test('a sentence of more than 25 words is shown as a closest passage, whole', async () => {
  const rule =
    'The canteen of the northern yard serves a warm lunch to everybody who works in one of the halls of the yard, unless the ' +
    'kitchen has been told by the office that fewer than ten people are expected on that day.'
  const said = await answer('When does the canteen of the northern yard serve a warm lunch?', {
    title: 'Canteen',
    content: `${rule} Soup is served at noon.`,
  })
  expect(said).toMatch(/^The closest passage is:/)
  expect(said).toContain('unless the kitchen has been told')
})

test('a sentence that leans on another is shown with it, and never alone', async () => {
  const said = await answer('How many cabins does the northern lightship have?', {
    title: 'Lightships',
    content: 'The northern lightship was moored in 1931. It has 14 cabins for its crew. Visitors may board in summer.',
  })
  expect(said).toContain('The northern lightship was moored in 1931 [1].')
  expect(said).toContain('It has 14 cabins for its crew [1].')
})

test('closest passages hold 140 words at most, and no passage that speaks of much less than the best', async () => {
  const long = (town: string): string =>
    `The ${town} council discussed the lanterns of its piers at great length, and then it put the lanterns of the piers off to another ` +
    `meeting of its members. Later, ${town} had its lanterns and piers painted by people of the yard, who took most of the summer for it.`
  const towns = ['Brost', 'Calwick', 'Dorvale', 'Elmsby'].map((town) => ({ title: town, content: long(town) }))
  const said = await answer('What did the council say about lanterns on piers?', ...towns, {
    title: 'Sailors',
    content: 'Sailors say grace in the evening.',
  })
  expect(said).toMatch(/^The closest passages are:/)
  expect(wordsOf(said)).toBeLessThanOrEqual(140)
  expect(said).not.toContain('grace')
})

test('numbers in titles tell pages apart, and what replaces a page need not be found', async () => {
  const leave = (title: string, days: number, replaced_by = ''): Passage => ({
    title,
    content: `The schedule grants ${days} days of paid leave to staff. Ask the office before the first week begins.`,
    replaced_by,
  })
  const question = 'How many days of paid leave does the schedule grant?'
  const both = await answer(question, leave('Leave 3', 13), leave('Leave 4', 14))
  expect(both).toContain('13 days')
  expect(both).toContain('14 days')
  const newest = await answer(question, leave('Leave v9', 20, 'Leave v10'), leave('Leave v10', 10))
  expect(newest).toContain('10 days')
  expect(newest).not.toContain('20 days')
  expect(await answer(question, leave('Leave v9', 20, 'Leave v10'))).toContain('20 days')
})

test('a page of commands is refused where it shares only a word or two with the question', async () => {
  const parcel = {
    title: 'parcel',
    content:
      '# parcel\n\nSend and receive documents of the yard.\n\n- Link documents to a folder:\n\n`parcel link {{folder}}`\n\n' +
      '- List all documents:\n\n`parcel list`\n',
  }
  expect(await answer('Can I link to a certain paragraph inside of shared documents for visitors?', parcel)).toBe(
    refusal,
  )
})

const keys = {
  title: 'Lockers',
  content:
    '# Lockers\n\nLockers stand in the basement.\n\n## Losing a key\n\nTo replace a locker key:\n\n1. Go to the porter.\n' +
    '2. Sign the green form.\n3. Pay the fee of 12 crowns.\n\n## Opening hours\n\nThe basement opens at 6. It closes at 22.\n',
}

test.each(['How do I replace a locker key?', 'replace locker key'])(
  'a sentence that leads to a list is shown with it: %s',
  async (question) => {
    expect(await answer(question, keys)).toBe(
      'To replace a locker key:\n\n1. Go to the porter [1].\n2. Sign the green form [1].\n3. Pay the fee of 12 crowns [1].',
    )
  },
)

test('all steps of a page that is called like the task are shown, not the step that shares most words', async () => {
  const soup = {
    title: 'Nettle soup',
    content:
      '# Nettle soup\n\nServes six.\n\n## Steps\n\n1. Wash the nettles.\n2. Fry an onion.\n3. Cook the soup for ten minutes.\n\n' +
      '## Storage\n\nThe soup keeps for two days.\n',
  }
  const said = await answer('How do I make nettle soup?', soup)
  for (const step of ['Wash the nettles', 'Fry an onion', 'Cook the soup for ten minutes']) expect(said).toContain(step)
})

test('a section whose heading says the same as the question is shown', async () => {
  expect(await answer('What are the opening hours?', keys)).toContain(
    'The basement opens at 6 [1]. It closes at 22 [1].',
  )
})

test('how long and how old ask for a number, and need not be repeated', async () => {
  const trial = { title: 'Trial period', content: 'A trial lasts six months. It ends with a talk.' }
  expect(await answer('How long is a trial?', trial)).toContain('A trial lasts six months [1].')
})

test('a month answers when', async () => {
  const regatta = { title: 'Regatta', content: 'The regatta takes place in July. The regatta has many sails.' }
  expect(await answer('When does the regatta take place?', regatta)).toBe('The regatta takes place in July [1].')
})

test('under the heading of the version that is asked for, others are not shown', async () => {
  const changes = {
    title: 'Changes',
    content: '# Changes\n\n## 3.2\n\n- Faster checks.\n\n## 3.1\n\n- New format.\n\n## 3.0\n\n- Old things went.\n',
  }
  const said = await answer('What is new in 3.1?', changes)
  expect(said).toContain('New format')
  expect(said).not.toMatch(/Faster|Old things/)
})

test('rows that only share their table with the question are no closest passages', async () => {
  const hotels = {
    title: 'Travel',
    content: '# Travel\n\n## Hotels\n\n| City | At most |\n|---|---|\n| Oslo | €180 |\n| Zurich | €230 |\n',
  }
  const said = await answer('What is the hotel limit in Zurich?', hotels)
  expect(said).toContain('Zurich: €230')
  expect(said).not.toContain('Oslo')
})

test('a German date does not end its sentence', async () => {
  const council = {
    title: 'Hafenrat',
    content: 'Der Hafenrat wurde am 8. Februar 1907 gegründet. Er tagt im Turm.',
  }
  expect(await answer('Wann wurde der Hafenrat gegründet?', council)).toContain('am 8. Februar 1907 gegründet [1]')
})

test('a question for a difference is not answered by a section that is called like both', async () => {
  const ropes = {
    title: 'Ropes',
    content:
      '# Ropes\n\n## Cutting cables\n\nCables and cuttings are kept in the shed. Wear gloves.\n\n' +
      '## Cable\n\nA cable holds a ship.\n\n## Cutting\n\nA cutting is a short end of a rope.\n',
  }
  const said = await answer('What is the difference between a cable and a cutting?', ropes)
  expect(said).toContain('A cable holds a ship [1].')
  expect(said).toContain('A cutting is a short end of a rope [1].')
})

test('a bare noun with when asks for a time, not for what the thing is', async () => {
  const inn = { title: 'Inn', content: 'Check-in is from 15:00 on. Breakfast is included.' }
  expect(await answer('when is breakfast', inn)).not.toBe('Breakfast is included [1].')
})

test('an overview of commands, and the changes of a version by its number', async () => {
  const commands = {
    title: 'Commands',
    content: '# Commands\n\n- tide list: lists all tides\n- tide add: adds a tide\n',
  }
  expect(await answer('overview of commands', commands)).toContain('tide list: lists all tides')
  const changes = { title: 'Changelog', content: '# Changelog\n\n## 3.1\n\n- New format.\n\n## 3.0\n\n- First.\n' }
  expect(await answer('what changed in version 3.1', changes)).toContain('New format')
})

test('the sentence that leads to code is shown once, with its code', async () => {
  const store = {
    title: 'Object stores',
    content:
      '# Object stores\n\nSet the keys in the environment:\n\n```sh\nexport TIDE_KEY=x\n```\n\nKeys expire after a year.\n',
  }
  const said = await answer('which environment keys for moving stores', store)
  expect(said.match(/Set the keys/g)).toHaveLength(1)
  expect(said).toContain('TIDE_KEY')
})

test('a sentence beside the one that answers is not quoted with it', async () => {
  const travel = {
    title: 'Business trips',
    content: 'A rail card is paid if it saves money within a year. The allowance for a ferry is 14 crowns.',
  }
  const text = await answer('Is there a ferry allowance for islanders?', travel)
  expect(text).toContain('The allowance for a ferry is 14 crowns')
  expect(text).not.toContain('rail card')
})

test('a question for what there is lists it', async () => {
  const benefits = { title: 'Benefits', content: '- Pension: 6 %.\n- Gym: 30 EUR a month.\n\nThey begin in May.' }
  expect(await answer('What benefits do we have?', benefits)).toBe('- Pension: 6 % [1].\n- Gym: 30 EUR a month [1].')
})

test('German `wie hoch` asks for a number and is no topic', async () => {
  const trips = { title: 'Dienstreisen', content: 'Die Verpflegungspauschale beträgt 28 Euro für einen vollen Tag.' }
  expect(await answer('Wie hoch ist die Verpflegungspauschale?', trips)).toBe(
    'Die Verpflegungspauschale beträgt 28 Euro für einen vollen Tag [1].',
  )
})

test('a row without a price does not answer what something costs', async () => {
  const models = {
    title: 'Models',
    content: '| setting | meaning |\n|---|---|\n| Embedding model | its name |\n| Host | its address |',
  }
  expect(await answer('What does an embedding model cost?', models)).not.toContain('Embedding model: meaning')
})

test('a pronoun is no number, and a fragment of a list is no answer', async () => {
  const keys = {
    title: 'Applying',
    content:
      '# Applying\n\nIf you do not have a signing key yet, generate one.\n\nThe office signs it within a week.\n',
  }
  const long = await answer('How long must my signing key be?', keys)
  expect(long).not.toMatch(/^If you do not have/)
  const system = {
    title: 'System',
    content: '# System\n\nIt has:\n\n- the usual tools, and many updated system programs,\n- a shell.\n',
  }
  expect(await answer('How do I update my system?', system)).not.toMatch(/^the usual tools/)
})

test('a replaced page that alone answers is read, and a year chooses among versions of one document', async () => {
  const notes = (version: string, text: string, replaced_by?: string): Passage => ({
    title: `Release notes ${version}`,
    content: `This release of the address book mends faults of the window and the list. ${text}`,
    ...(replaced_by !== undefined && { replaced_by }),
  })
  const old = notes('v1.9', 'It added the export of contacts as a table.', 'Release notes v1.10')
  const current = notes('v1.10', 'It added a darker theme for the night.')
  expect(await answer('Which release added the export of contacts?', current, old)).toContain('export of contacts')

  const leave = (title: string, days: number, year: number, replaced_by?: string): Passage => ({
    title,
    content: `Full-time staff receive ${days} days of paid leave a year, also in their first one.`,
    updated_at: `${year}-03-01T00:00:00Z`,
    ...(replaced_by !== undefined && { replaced_by }),
  })
  const book = (title: string, year: number, replaced_by?: string): Passage => ({
    title,
    content: `The handbook of ${year} names desks and lamps of the third floor.`,
    updated_at: `${year}-03-01T00:00:00Z`,
    ...(replaced_by !== undefined && { replaced_by }),
  })
  const said = await answer(
    'How many days of paid leave do full-time staff receive in 2025?',
    leave('Leave policy v2', 25, 2024),
    leave('Leave policy v1', 20, 2023, 'Leave policy v2'),
    book('Handbook v4', 2025),
    book('Handbook v3', 2022, 'Handbook v4'),
  )
  expect(said).toContain('25 days')
  expect(said).not.toContain('20 days')
})

test('a place that answers in more than two sentences is quoted further while there is room', async () => {
  const keys = {
    title: 'Keys',
    content:
      '# Keys\n\nEach developer has a signing key. Keep the signing key off the network. Print a copy of the signing key. ' +
      'A developer who lost the key asks the keepers.\n',
  }
  const said = await answer('What should developers do about signing keys and their copies?', keys)
  for (const sentence of ['off the network', 'Print a copy', 'Each developer']) expect(said).toContain(sentence)
})

test('a sentence about another thing of the page is no sure answer, and a question is never quoted', async () => {
  const names = {
    title: 'The origin of Debian',
    content: '# The origin of Debian\n\nThe name Sid comes from a film. Where does the name come from?\n',
  }
  const said = await answer('Where does the name Debian come from?', names)
  expect(said).not.toMatch(/^The name Sid/)
  expect(said).not.toContain('Where does')
})

test('the number of a standard is not the number that is asked for', async () => {
  const keys = { title: 'Keys', content: 'OpenPGP keys follow RFC 4880. Your key needs 3000 bits.' }
  expect(await answer('How long must my OpenPGP key be?', keys)).not.toMatch(/^OpenPGP keys follow/)
})

test('a short option is not the one in capitals', async () => {
  const page = { title: 'fetch', content: '# fetch\n\n-K, --config FILE: read options of fetch from FILE.\n' }
  expect(await answer('What does fetch -k do?', page)).toBe(refusal)
})
