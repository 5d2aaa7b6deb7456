import { describe, expect, test } from 'vitest'
import { answer, refusal } from './found-passages.ts'

const moorings = {
  title: 'Moorings',
  content:
    '# Moorings\n\nA berth may be kept for up to 18 months. Sharing a mooring, for up to 9 months, is possible. ' +
    'Write to the office 7 weeks before.\n\n## Papers to bring\n\n- A passport\n- The licence of the boat\n- Proof of insurance\n\n' +
    '## Fees\n\n| Pier | Day | Season |\n|---|---|---|\n| North | 12 | 400 |\n| South | 30 | 900 |\n| West | 21 | 700 |\n',
}

test('an item of a list whose heading answers is shown with the rest of the list', async () => {
  const said = await answer('what papers of the boat must I bring', moorings)
  for (const item of ['A passport', 'The licence of the boat', 'Proof of insurance']) expect(said).toContain(item)
})

describe('short questions', () => {
  const tides = {
    title: 'Tides',
    content: '# Tides\n\nBoats with a visitor on board keep to the left. High water comes twice a day.\n',
  }

  test('one word that is said in passing does not answer a question of two', async () => {
    expect(await answer('visitor parking', tides)).toBe(refusal)
  })
})

test('the sentence that leads to a command has no share in the words of the command', async () => {
  const shore = { title: 'Shore leave', content: '# Shore leave\n\nCrews may sleep at home on two nights.\n' }
  const disks = { title: 'disks', content: '# disks\n\nShow folders of crews:\n\n```sh\ndisks -t 10 /home\n```\n' }
  expect(await answer('can crews sleep at home on weekends?', shore, disks)).not.toContain('disks -t')
})

test('steps that the page does not number one after the other are no numbered list', async () => {
  const pump = {
    title: 'Pump',
    content: '# Pump\n\nTo start the pump:\n\n1. Open the valve.\n3. Pull the lever.\n4. Wait.\n',
  }
  expect(await answer('how do I start the pump?', pump)).toBe(
    'To start the pump:\n\n- Open the valve [1].\n- Pull the lever [1].\n- Wait [1].',
  )
})
