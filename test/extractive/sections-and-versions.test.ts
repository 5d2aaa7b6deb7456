import { expect, test } from 'vitest'
import { answer, wholeAnswer } from './found-passages.ts'

const [old, current] = [
  {
    title: 'Moorings 2022',
    content: '# Moorings 2022\n\nMoorings abroad are not allowed.',
    replaced_by: 'Moorings 2025',
  },
  { title: 'Moorings 2025', content: '# Moorings 2025\n\nMoorings elsewhere need a permit of 20 days.' },
]

test('what only the old version says is quoted with the name of the new one', async () => {
  expect(await wholeAnswer('are moorings abroad allowed', old, current)).toBe(
    'Moorings abroad are not allowed [1].\n\n— Moorings 2022 → Moorings 2025',
  )
  expect(await wholeAnswer('do moorings need a permit', old, current)).toBe(
    'Moorings elsewhere need a permit of 20 days [2].\n\n— Moorings 2025',
  )
})

test('the list after a sentence with "the following" belongs to it', async () => {
  const lamp = {
    title: 'Lampd',
    content:
      '# Lampd\n\nLampd looks for its config file in the following places. It takes the first.\n\n1. `/etc/lampd`\n2. `/opt/lampd`\n',
  }
  const said = await answer('where does it look for the config file', lamp)
  expect(said).toContain('/etc/lampd')
  expect(said).toContain('/opt/lampd')
})

test('of the long list below a heading, the items are shown that answer', async () => {
  const notes = Array.from({ length: 60 }, (_, at) => `Note ${at} is about other things.`).join(' ')
  const limit = {
    title: 'Settings',
    content: `# Settings\n\n## 7.4.8. buffer-limit\n\n- **Meaning**: Greatest size.\n- **Default**: 4096\n- **Notes**: ${notes}\n`,
  }
  expect(await answer('buffer-limit default max', limit)).toContain('4096')
})
