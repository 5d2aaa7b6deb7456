import { expect, test } from 'vitest'
import { request, startKnowledge } from '../setup.ts'

type Pair = readonly [older: string, newer: string]

/** What a search finds of two pages, by title: what each is replaced by. The older one comes with the newer file date. */
async function replacements([older, newer]: Pair): Promise<Record<string, string | undefined>> {
  const { knowledge } = await startKnowledge()
  for (const [id, title, date] of [
    ['older', older, '2025-05-01'],
    ['newer', newer, '2025-04-01'],
  ] as const)
    await knowledge.accept(
      request({ id, semantic_identifier: title, title, text: `Herons ${id}.`, doc_updated_at: `${date}T00:00:00Z` }),
    )
  await knowledge.whenIdle()
  const results = await knowledge.search({ text: 'herons' })
  expect(results).toHaveLength(2)
  return Object.fromEntries(results.map(({ document, replacedBy }) => [document.document_id, replacedBy?.documentId]))
}

test.each<Pair>([
  ['Annual leave policy (2023)', 'Annual leave policy (2025)'],
  ['2024 price list', '2025 price list'],
  ['Preisliste, Stand 01.02.2024', 'Preisliste, Stand 15.01.2025'],
  ['Income Tax Act 2019', 'Income Tax Act 2023'],
  ['Acme Desktop 2.9.1', 'Acme Desktop 2.10.0'],
  ['Installation guide v9', 'Installation guide v10'],
  ['Employee handbook, 2nd edition', 'Employee handbook, 3rd edition'],
  ['Minutes of the works council 2025-02-12 (draft)', 'Minutes of the works council 2025-02-12 (final)'],
  ['Reisekostenrichtlinie – Fassung 2.1', 'Reisekostenrichtlinie – Fassung 3.0'],
  ['Règlement intérieur, mars 2022', 'Règlement intérieur, janvier 2024'],
  ['Manual del empleado (versión 1)', 'Manual del empleado (versión 2)'],
  ['Regolamento aziendale 12 marzo 2023', 'Regolamento aziendale 3 gennaio 2025'],
  ['员工手册 2023年', '员工手册 2025年'],
  ['School fees 2023/24', 'School fees 2024/25'],
  ['Security policy rev. B', 'Security policy rev. C'],
  ['Reporting guidelines 2023', 'Reporting guidelines 2025'],
])('%s is replaced by %s', async (...pair) => {
  expect(await replacements(pair)).toEqual({ older: 'newer', newer: undefined })
})

test.each<Pair>([
  ['Minutes of the works council 2025-02-12', 'Minutes of the works council 2025-02-19'],
  ['Sitzungsprotokoll 12.02.2025', 'Sitzungsprotokoll 19.02.2025'],
  ['Yearbook 2023', 'Yearbook 2024'],
  ['Annual report 2022', 'Annual report 2023'],
  ['Jahresbericht 2022', 'Jahresbericht 2023'],
  ['Payments API v1', 'Payments API v2'],
  ['Curriculum vitae Mia Roth 2023', 'Curriculum vitae Jon Roth 2025'],
  ['Windows Server 2019 installation guide', 'Windows Server 2022 installation guide'],
  ['Form 3', 'Form 4'],
  ['Newsletter March 2025', 'Newsletter April 2025'],
  ['Release notes 2.3', 'Release notes 2.4'],
  ['Compte rendu du 3 mars 2024', 'Compte rendu du 7 avril 2024'],
  ['Invoice 2024-03-01', 'Invoice 2024-04-01'],
  ['Draft beer', 'Beer'],
  ['2023', '2025'],
])('%s and %s both hold', async (...pair) => {
  expect(await replacements(pair)).toEqual({ older: undefined, newer: undefined })
})
