import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fold } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { researchFaults } from '../agent/research/research-order.ts'
import { linesOf, overFolder, research } from './research-fixture.ts'

const corpus = join(import.meta.dirname, '../../../shared/corpora/documents/powershell-7.4')
test.skipIf(!existsSync(corpus))('reports on a large manual', async () => {
  const inlay = await overFolder(corpus)
  const lines = await linesOf(
    await research(inlay, 'How does PowerShell handle errors, and how do I write advanced functions?'),
  )
  expect(researchFaults(lines)).toEqual([])
  const { answer, top_documents: documents } = fold(lines)
  const titles = documents.map(({ semantic_identifier: title }) => title)
  expect(titles).toEqual(expect.arrayContaining(['about_Error_Handling', 'about_Functions_Advanced']))
  expect(answer).toMatch(/terminating/)
  expect(answer).toMatch(/CmdletBinding/)
})
