import { describe, expect, test } from 'vitest'
import { answer, refusal, type Passage } from './found-passages.ts'

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

  test.each(['What did a mooring cost a night in 2022?', 'What did a mooring cost a night under the old rules?'])(
    '%s',
    async (question) => {
      const said = await answer(question, ...both)
      expect(said).toContain('A mooring costs 70 crowns a night [2]')
      expect(said).not.toContain('90 crowns')
    },
  )
})

describe('signs and options', () => {
  const copying = {
    title: 'fetchit',
    content:
      '# fetchit\n\n> Copy files between hosts.\n\n- Copy a folder:\n\n`fetchit -r folder host`\n\n- Keep dates and permissions:\n\n`fetchit -a folder host`\n',
  }

  test('an option is looked up', async () => {
    const said = await answer('what does fetchit -a do', copying)
    expect(said).toContain('Keep dates and permissions')
    expect(said).not.toContain('Copy a folder')
  })

  test('a sign that stands nowhere is refused', async () => {
    expect(await answer('what does fetchit copy with $? in it', copying)).toBe(refusal)
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

  test('a command of a page that the question does not speak of is no sure answer', async () => {
    const said = await answer('replace text in a file', {
      title: 'depot sed',
      content: '# depot sed\n\n- Replace text in every file of a depot:\n\n`depot sed old new`\n',
    })
    expect(said).toMatch(/^The closest passage is:/)
  })

  test('an example that forces something is not quoted, whatever its heading leaves out', async () => {
    const said = await answer('how do I export shelves', {
      title: 'Export-Shelf',
      content:
        '# Export-Shelf\n\nExports shelves to a file.\n\n## Example 8: Overwrite read-only files\n\n```sh\nExport-Shelf shelves.txt -Force\n```\n',
    })
    expect(said).not.toContain('-Force')
  })
})

describe('look-ups', () => {
  const people = {
    title: 'Contacts',
    content:
      '# Contacts\n\n| Name | Role | Phone |\n|---|---|---|\n| Ada Berg | Head of Sales | 11 |\n| Bo Lind | Head of IT | 12 |\n',
  }
  const desk = {
    title: 'Harbour office',
    content: '# Harbour office\n\nThe office is on pier 2. Phone: 555 200. Mail: desk@h.example.\n',
  }

  test('a cell leads to its row', async () => {
    expect(await answer('who is the head of IT', people)).toBe('Bo Lind: Role Head of IT [1].')
    // The cell holds all words of the question, but does not say where.
    expect(await answer('where is head of IT found', people)).not.toBe('Bo Lind: Role Head of IT [1].')
  })

  test('a row is found by any of its cells, and the column by its name or measure', async () => {
    expect(await answer('phone of the head of IT', people)).toBe('Bo Lind: Phone 12 [1].')
    const crates = {
      title: 'Crates',
      content: '# Crates\n\n| Crate | Mass | Made of |\n|---|---|---|\n| Auk | 14 kg | pine |\n| Tern | 6 kg | oak |\n',
    }
    expect(await answer('How heavy is the Tern?', crates)).toBe('Tern: Mass 6 kg [1].')
  })

  test('a row that shares a word with a question for the most of a column does not answer it', async () => {
    const clays = {
      title: 'Clays',
      content:
        '# Clays\n\n| Name | Shrinkage |\n|---|---|\n| Grey clay | 5 % |\n| Porcelain | 14 % |\n| Brick | 7 % |\n',
    }
    expect(await answer('Which clay has the highest shrinkage?', clays)).toBe('Porcelain: Shrinkage 14 % [1].')
  })

  test('a label leads to its value', async () => {
    expect(await answer('phone number of the harbour office', desk, people)).toBe('Phone: 555 200 [1].')
  })

  test('a question that is the title of a page gets its overview', async () => {
    const said = await answer('harbour rules', {
      title: 'Harbour rules',
      content: '# Harbour rules\n\n## Speed\n\nFive knots at most. Slower at night.\n\n## Fires\n\nNo fires on deck.\n',
    })
    expect(said).toBe('- **Speed**: Five knots at most [1].\n- **Fires**: No fires on deck [1].')
  })

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

describe('extremes of a table', () => {
  const rooms = {
    title: 'Rooms',
    content:
      '# Rooms\n\n| Room | Capacity | Price |\n|---|---|---|\n| Elm | 4 | 20 € |\n| Oak | 25 | 90 € |\n| Ash | 60 | 150 € |\n',
  }
  const single = /^(?:Elm|Oak|Ash)[^\n]*\[1\]\.?$/

  test('the least and the most are one row', async () => {
    expect(await answer('Which room is the cheapest?', rooms)).toMatch(/^Elm: Price 20 €/)
    expect(await answer('Which room is the most expensive?', rooms)).toMatch(/^Ash: Price 150 €/)
  })

  test.each([
    'Which room has a capacity of at least 20?',
    'Which room has a price of at most 100?',
    'Which room is not the cheapest?',
    'Which room is the second cheapest?',
    'Which room has the lowest price: Oak or Ash?',
    'Welcher Room ist nicht der günstigste?',
  ])('no single row is claimed: %s', async (question) => {
    expect(await answer(question, rooms)).not.toMatch(single)
  })

  test('the youngest has the lowest age', async () => {
    const members = {
      title: 'Members',
      content: '# Members\n\n| Member | Age |\n|---|---|\n| Ada | 71 |\n| Bo | 19 |\n| Cy | 40 |\n',
    }
    expect(await answer('Who is the youngest member?', members)).toMatch(/^Bo\b.*19/)
    expect(await answer('Who is the oldest member?', members)).toMatch(/^Ada\b.*71/)
  })

  test('dots group thousands of euros that the header names', async () => {
    const boats = {
      title: 'Boats',
      content: '# Boats\n\n| Boat | Price in EUR |\n|---|---|\n| Tern | 1.200 |\n| Auk | 900 |\n| Gull | 1.050 |\n',
    }
    expect(await answer('Which boat is the cheapest?', boats)).toMatch(/^Auk: Price in EUR 900/)
    expect(await answer('Which boat is the most expensive?', boats)).toMatch(/^Tern: Price in EUR 1\.200/)
  })
})

test('prose that tells how to do the opposite is no closest passage', async () => {
  const said = await answer('How do I disable automatic backups?', {
    title: 'Backups',
    content: '# Backups\n\nTo enable automatic backups, tick the box in the settings and choose a folder for them.\n',
  })
  expect(said).not.toContain('To enable')
})
