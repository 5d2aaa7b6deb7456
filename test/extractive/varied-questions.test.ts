import { describe, expect, test } from 'vitest'
import { answer, type Passage } from './found-passages.ts'

describe('versions', () => {
  const page = (year: number, price: number): Passage => ({
    title: 'Moorings',
    content: `# Moorings\n\nValid from May ${year}. ${year > 2022 ? 'It replaces the rules of 2022.' : ''}\n\n## Fees\n\nA mooring costs ${price} crowns a night.\n`,
    updated_at: `${year}-05-01T00:00:00Z`,
    ...(year < 2025 && { replaced_by: 'Moorings' }),
  })
  const both = [page(2025, 90), page(2022, 70)] as const

  test('without a year the newest is quoted', async () => {
    expect(await answer('What does a mooring cost a night?', ...both)).toBe('A mooring costs 90 crowns a night [1].')
  })

  test('the year of an old one is answered from it', async () => {
    const said = await answer('What did a mooring cost a night in 2022?', ...both)
    expect(said).toContain('A mooring costs 70 crowns a night [2]')
    expect(said).not.toContain('90 crowns')
  })
})

describe('how to do something', () => {
  const widgets = {
    title: 'Add-Note',
    section: 'Example 6: Add to a read-only text file',
    content:
      '- The `New-File` command creates the text file `read.txt`.\n- The `Add-Note` command writes a note into the file.\n- The `Show-Note` command shows the text.\n',
  }
  const sorting = { title: 'Sort-Shelf', content: '# Sort-Shelf\n\nSorts the shelves of a library by their titles.\n' }
  const members = {
    title: 'Shelves',
    content: '# Shelves\n\n## Titles of shelves\n\nThe titles of the shelves are got with `Get-Title`.\n',
  }

  test('remarks on an example are no steps', async () => {
    expect(await answer('how do I read a text file', widgets)).not.toMatch(/^- /)
  })

  test('what is done belongs to the topic, even if the word also asks for a list', async () => {
    expect(await answer('how do I sort shelves by titles', members, sorting)).toBe(
      'Sorts the shelves of a library by their titles [2].',
    )
  })

  test('part of a numbered procedure is quoted whole', async () => {
    const fire = {
      title: 'Brandschutz',
      content:
        '# Brandschutz\n\n## Verhalten bei einem Brand\n\n1. Ruhe bewahren.\n2. Den Melder drücken.\n3. Das Haus über die Treppe verlassen.\n',
    }
    const said = await answer('Wie verhalte ich mich bei Brand?', fire)
    for (const step of ['Ruhe bewahren', 'Den Melder drücken', 'Das Haus']) expect(said).toContain(step)
  })
})

describe('look-ups', () => {
  test('what kinds there are is no definition', async () => {
    const said = await answer('which mooring permits are there', {
      title: 'Permits',
      content:
        '# Permits\n\nA mooring permit is a part of the harbour law.\n\n## Mooring permits\n\n- Day permit\n- Season permit\n',
    })
    expect(said).toContain('- Day permit [1].\n- Season permit [1].')
  })

  test('words with and without their hyphen match', async () => {
    expect(
      await answer('wifi for guests', { title: 'Wi-Fi', content: '# Wi-Fi\n\nGuests use the network `blue`.\n' }),
    ).toContain('blue')
  })
})
