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

test('the sentence that answers is quoted with the next', async () => {
  expect(await answer('How often do ferries to Aldersund sail in winter?', ferries)).toBe(
    'Ferries to Aldersund sail twice a day in winter [1]. Tickets are sold on board [1].',
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

test('a number in words answers how long', async () => {
  const leave = { title: 'Leave', content: '# Leave\n\nParental leave lasts sixteen weeks. Parental leave is paid.\n' }
  expect(await answer('How long is parental leave?', leave)).toBe(
    'Parental leave lasts sixteen weeks [1]. Parental leave is paid [1].',
  )
})

test('a citation does not split an ellipsis', async () => {
  const usage = { title: 'copy', content: '# copy\n\nCall it as: copy SOURCE TARGET...\n' }
  expect(await answer('How do I copy a source to a target?', usage)).toContain('copy SOURCE TARGET... [1]')
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

test('a sentence that leans on another is shown with it, and never alone', async () => {
  const said = await answer('How many cabins does the northern lightship have?', {
    title: 'Lightships',
    content: 'The northern lightship was moored in 1931. It has 14 cabins for its crew. Visitors may board in summer.',
  })
  expect(said).toContain('The northern lightship was moored in 1931 [1].')
  expect(said).toContain('It has 14 cabins for its crew [1].')
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
  expect(await answer('When does the regatta take place?', regatta)).toContain('The regatta takes place in July [1].')
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

test('a German date does not end its sentence', async () => {
  const council = {
    title: 'Hafenrat',
    content: 'Der Hafenrat wurde am 8. Februar 1907 gegründet. Er tagt im Turm.',
  }
  expect(await answer('Wann wurde der Hafenrat gegründet?', council)).toContain('am 8. Februar 1907 gegründet [1]')
})

test('a bare noun with when asks for a time, not for what the thing is', async () => {
  const inn = { title: 'Inn', content: 'Check-in is from 15:00 on. Breakfast is included.' }
  expect(await answer('when is breakfast', inn)).not.toBe('Breakfast is included [1].')
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
