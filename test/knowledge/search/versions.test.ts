import type { Knowledge } from '@inlay/knowledge'
import { supersededNotice } from '@inlay/knowledge/internal/chunking/superseded'
import { expect, describe, test } from 'vitest'
import { request, startKnowledge } from '../setup.ts'

interface Page {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly date?: string
  readonly metadata?: Record<string, string>
}

async function knowledgeOf(...pages: Page[]): Promise<Knowledge> {
  const { knowledge } = await startKnowledge()
  for (const { id, title, text, date, metadata = {} } of pages)
    await knowledge.accept(
      request({
        id,
        semantic_identifier: title,
        title,
        text,
        metadata,
        doc_updated_at: date ? `${date}T00:00:00Z` : null,
      }),
    )
  await knowledge.whenIdle()
  return knowledge
}

const searchIn = async (knowledge: Knowledge, text: string): Promise<[string, string | null][]> =>
  (await knowledge.search({ text })).map(({ document }) => [document.document_id, document.relevance_explanation])

const policy = (days: number): string =>
  `Employees may work from home on up to ${days} days a week. Managers agree on the days with their team. Equipment is ` +
  'provided by the company, and expenses for a desk are refunded up to the limit that finance has published.'

describe('versions of one document', () => {
  test('the newest of near-identical pages comes first, and both say so', async () => {
    const knowledge = await knowledgeOf(
      {
        id: 'old',
        title: 'Working from home 2022',
        text: `${policy(2)} Working from home policy.`,
        date: '2022-03-01',
      },
      { id: 'new', title: 'Working from home 2025', text: policy(3), date: '2025-03-01' },
      { id: 'other', title: 'Travel', text: 'Trains are booked by the office, not from home.', date: '2026-01-01' },
    )
    const results = await searchIn(knowledge, 'working home days')
    expect(results.slice(0, 2)).toEqual([
      ['new', 'The newest of 2 similar documents.'],
      ['old', 'An older version: "Working from home 2025" dates from 2025-03-01.'],
    ])
    expect(results.slice(2).map(([, note]) => note)).toEqual([null])
  })

  test('a version that is asked for by its number stays first', async () => {
    const knowledge = await knowledgeOf(
      { id: 'old', title: 'Working from home 2022', text: policy(2), date: '2022-03-01' },
      { id: 'new', title: 'Working from home 2025', text: policy(3), date: '2025-03-01' },
    )
    expect((await searchIn(knowledge, 'working from home 2022'))[0]?.[0]).toBe('old')
  })

  test('the version in a title counts more than the dates of the files', async () => {
    for (const [older = '', newer = ''] of [
      ['Working from home 2021', 'Working from home 2024'],
      ['Working from home v9', 'Working from home v10'],
      ['Working from home (version 1.9)', 'Working from home (version 1.10)'],
    ]) {
      const knowledge = await knowledgeOf(
        { id: 'old', title: older, text: policy(2), date: '2025-03-01' },
        { id: 'new', title: newer, text: policy(3), date: '2025-02-01' },
      )
      const results = await knowledge.search({ text: 'days of work from home' })
      expect(results.map(({ document, replacedBy }) => [document.document_id, replacedBy])).toEqual([
        ['new', undefined],
        ['old', { documentId: 'new', title: newer, link: null }],
      ])
    }
  })

  test('never replace each other in a circle: titles count more than dates, what pages state more than titles', async () => {
    // By dates alone 2022 replaces the undated title, which replaces 2024, which replaces 2022 by its title.
    const circle: Page[] = [
      { id: '2022', title: 'Working from home 2022', text: policy(2), date: '2025-05-01' },
      { id: 'undated', title: 'Working from home', text: policy(3), date: '2023-09-01' },
      { id: '2024', title: 'Working from home 2024', text: policy(4), date: '2023-05-01' },
    ]
    const relation = async (...pages: Page[]) =>
      Object.fromEntries(
        (await (await knowledgeOf(...pages)).search({ text: 'days of work from home' })).map(
          ({ document, replacedBy }) => [document.document_id, replacedBy?.documentId],
        ),
      )
    for (const pages of [circle, circle.toReversed()])
      expect(await relation(...pages)).toEqual({ undated: '2024', 2022: '2024', 2024: undefined })

    const stated = (by: string, days: number): string => `This policy was superseded by *${by}*.\n\n${policy(days)}`
    expect(
      await relation(
        { id: 'new', title: 'Working from home 2022', text: stated('Office days 2023', 2), date: '2026-01-01' },
        { id: 'newer', title: 'Office days 2023', text: stated('Presence', 3), date: '2025-01-01' },
        { id: 'newest', title: 'Presence', text: policy(4), date: '2024-01-01' },
      ),
    ).toEqual({ new: 'newest', newer: 'newest', newest: undefined })
    expect(
      await relation(
        { id: 'a', title: 'Office days', text: stated('Presence days', 2), date: '2026-01-01' },
        { id: 'b', title: 'Presence days', text: stated('Office days', 3), date: '2025-01-01' },
      ),
    ).toEqual({ a: undefined, b: undefined })
  })

  test.each([
    ['Travel policy 2024', '2024-11-20', 'Travel policy', '2024-01-05'],
    ['Travel policy 2024', '2025-02-01', 'Travel policy', '2024-12-05'],
    ['Travel policy', '2024-11-20', 'Travel policy 2024', '2024-01-05'],
    ['Travel policy', '2024-11-20', 'Travel policy 2024-03', '2025-01-05'],
    ['Travel policy 2024', '2024-11-20', 'Travel policy 2024-03', '2024-03-05'],
  ])('a year in a title is no date before all days of this year: %s of %s, %s of %s', async (...given) => {
    const [newer, changed, older, olderChanged] = given
    const knowledge = await knowledgeOf(
      { id: 'old', title: older, text: policy(2), date: olderChanged },
      { id: 'new', title: newer, text: policy(3), date: changed },
    )
    const results = await knowledge.search({ text: 'days of work from home' })
    expect(results.map(({ document, replacedBy }) => [document.document_id, replacedBy?.documentId])).toEqual([
      ['new', undefined],
      ['old', 'new'],
    ])
  })

  test('other numbers in titles tell pages apart', async () => {
    const knowledge = await knowledgeOf(
      { id: 'a', title: 'Site 3', text: policy(2), date: '2022-03-01' },
      { id: 'b', title: 'Site 4', text: policy(3), date: '2025-03-01' },
    )
    const results = await knowledge.search({ text: 'days of work from home' })
    expect(results.map(({ document, replacedBy }) => [document.relevance_explanation, replacedBy])).toEqual([
      [null, undefined],
      [null, undefined],
    ])
  })

  test('pages that share a title, or a topic, are no versions of each other', async () => {
    const knowledge = await knowledgeOf(
      { id: 'a', title: 'Overview', text: 'The archive keeps herons and maps of herons.', date: '2020-01-01' },
      { id: 'b', title: 'Overview', text: 'A heron stands in the river beside the mill.', date: '2024-01-01' },
    )
    expect((await searchIn(knowledge, 'heron overview')).map(([, note]) => note)).toEqual([null, null])
  })
})

describe('superseded documents', () => {
  test('rank below what replaces them, whatever its name, and say so', async () => {
    const knowledge = await knowledgeOf(
      {
        id: 'old',
        title: 'Remote work policy',
        text: '> **Note:** This policy was superseded by *Hybrid work*.\n\nRemote work policy: remote work is allowed.',
        date: '2022-01-01',
      },
      { id: 'new', title: 'Hybrid work', text: 'The policy on work at home or in the office.', date: '2021-01-01' },
    )
    expect(await searchIn(knowledge, 'remote work policy')).toEqual([
      ['new', 'Replaces "Remote work policy".'],
      ['old', 'Superseded according to the document: "Note: This policy was superseded by Hybrid work."'],
    ])
  })

  test.each([
    ['From 1 May 2024 the Expense Handbook replaces this document.', 'Expense Handbook'],
    ['This leaflet does not replace the Safety Handbook.', 'Safety Handbook'],
    ['These steps replace the toner cartridge of the printer.', 'Toner cartridge'],
    ['This handbook replaces the pages of 2019.', 'Handbook'],
    ['Diese Richtlinie ersetzt nicht das Safety Handbook.', 'Safety Handbook'],
    ['El Manual de gastos sustituye este documento.', 'Manual de gastos'],
    ['Le Guide des frais remplace le présent document.', 'Guide des frais'],
  ])('are none that a text only speaks of: %s', async (text, title) => {
    const knowledge = await knowledgeOf(
      { id: 'other', title: 'Travel notes 2019', text: `${text} Hotels are booked early.`, date: '2019-01-01' },
      { id: 'named', title, text: 'Hotels: the company pays for what is booked.', date: '2024-01-01' },
    )
    const results = await knowledge.search({ text: 'hotels booked' })
    expect(results).toHaveLength(2)
    const named = results.find(({ document }) => document.document_id === 'named')
    expect(named?.document.relevance_explanation).toBeNull()
    expect(named?.replacedBy).toBeUndefined()
  })

  test('stay where they are when nothing found replaces them', async () => {
    const knowledge = await knowledgeOf(
      { id: 'old', title: 'Parking', text: 'This page is obsolete. Parking costs nothing.' },
      { id: 'other', title: 'Canteen', text: 'The canteen is behind the parking area.' },
    )
    const results = await searchIn(knowledge, 'parking costs')
    expect(results.map(([id]) => id)).toEqual(['old', 'other'])
    expect(results[0]?.[1]).toBe('Superseded according to the document: "This page is obsolete."')
  })

  const noticeOf = (text: string, title = 'A page', metadata: Record<string, string> = {}): string | undefined =>
    supersededNotice({ title, semantic_identifier: title, metadata, sections: request({ text }).document.sections })

  test.each([
    'This document has been superseded by the policy of 2025.',
    'This policy is no longer in force.',
    'This policy is no longer valid and the Travel Policy 2024 will replace it.',
    'Superseded by the 2024 version.',
    'Status: obsolete',
    '**ARCHIVED**\n\nOld text.',
    'Diese Richtlinie wurde durch die Fassung von 2025 ersetzt.',
    'Dieses Dokument ist nicht mehr gültig.',
    'Cette politique est remplacée par celle de 2025.',
    'Ce document n’est plus en vigueur.',
    'Esta política ha sido sustituida por la de 2025.',
    'Este documento ya no está vigente.',
    'Questa procedura è stata sostituita da quella del 2025.',
    'Este documento foi substituído pela versão de 2025.',
    'Dit beleid is vervangen door de versie van 2025.',
    'Det här dokumentet har ersatts av en ny version.',
    'Dette dokument er erstattet af en ny version.',
    'Ten dokument został zastąpiony przez wersję z 2025 roku.',
    'Этот документ заменён новой редакцией.',
    'Bu belge yürürlükten kaldırılmıştır.',
    'هذه السياسة لم تعد سارية.',
    '本文件已被2025年版取代。',
    'この文書は廃止されました。',
    '이 문서는 폐지되었습니다.',
    'This policy is no longer valid: the travel policy 2024 replaces it.',
    'This page is obsolete; the new page supersedes it.',
    'The travel policy 2024 supersedes this policy, which is no longer valid.',
    'Cette politique n’est plus valable : la politique 2024 l’annule et la remplace.',
    'Cette politique est caduque, puisque la politique 2024 remplace celle-ci.',
    'Esta política ya no está vigente: la política 2024 la sustituye.',
    'Esta política ya no está vigente: la política 2024 sustituye a esta.',
    'Questo documento è obsoleto: la procedura 2024 lo sostituisce.',
    'O presente documento está obsoleto: a versão 2024 substitui-o.',
    'Dit beleid is niet meer geldig: het beleid van 2024 vervangt het.',
    'Den här policyn är inte längre giltig; policyn 2024 ersätter den.',
    'Denne politik er forældet; politikken 2024 erstatter den.',
    'Ten dokument jest nieaktualny; zastępuje go wersja z 2024 roku.',
    'Этот документ устарел, его заменяет новая редакция.',
    '本政策已失效，新政策取代了它。',
  ])('say so in many languages: %s', (text) => {
    expect(noticeOf(text)).toBeDefined()
  })

  test.each([
    'This policy replaces the policy of 2022, which is no longer valid.',
    'Lamps are replaced by the caretaker.',
    'How obsolete computers are given away.',
    'The option -Foo is deprecated.',
    'Archived mail is kept for ten years.',
    'Diese Richtlinie ersetzt die Fassung von 2022.',
    'Cette politique remplace celle de 2022.',
    'Diese Lampe wird vom Hausmeister gewechselt.',
    'This policy replaces them, since they are no longer valid.',
    'With this policy the rules of 2022 are no longer valid, and it replaces the guide of 2021.',
    '本政策取代了此前的政策，后者已失效。',
    'Alle passen moeten ten minste elke twee jaar worden vervangen.',
    'De contracten die ten einde lopen, vervallen automatisch.',
    'Dit beleid is niet meer gratis; het vervangt het beleid van 2022, dat is vervallen.',
    'Når to medarbejdere er syge, bliver de erstattet.',
    'To av ti batterier er foreldet',
    'Att ta med: gamla kort blir ersatta av nya.',
    'Det är viktigt att gamla kort blir ersatta av nya.',
    'Denna policy ersätter den gamla policyn, som inte längre gäller.',
    'Le technicien vous dit si le filtre doit être remplacé.',
    'Reisekosten werden den Mitarbeitenden innerhalb von 30 Tagen erstattet.',
    'Diese Regel gilt für Reisen, die nicht mehr als 200 km weit sind.',
    'Diese Pauschale ist nicht mehr als ein Richtwert.',
    'Diese Regel gilt für Geräte, die nicht mehr repariert werden.',
  ])('are not mistaken: %s', (text) => {
    expect(noticeOf(text)).toBeUndefined()
  })

  test('may say so in their title or front matter', () => {
    expect(noticeOf('Text.', 'Remote work (superseded)')).toBe('Remote work (superseded)')
    expect(noticeOf('Text.', '[OBSOLETE] Remote work')).toBe('[OBSOLETE] Remote work')
    expect(noticeOf('Text.', 'Obsolete hardware')).toBeUndefined()
    expect(noticeOf('Text.', 'A page', { status: 'superseded' })).toBe('status: superseded')
    expect(noticeOf('Text.', 'A page', { superseded_by: 'Hybrid work' })).toBe('superseded_by: Hybrid work')
    expect(noticeOf('Text.', 'A page', { status: 'active' })).toBeUndefined()
  })
})
