import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { OutputRepair, type RepairState } from '@inlay/small-models/internal/repair/output-repair'
import { expect, test } from 'vitest'
import { cases } from '../cases.ts'
import { cpuMsOf } from '../cpu-time.ts'

const length = cases(100_000, 400_000)
const call: LanguageModelV4CallOptions = {
  tools: [{ type: 'function', name: 'search', inputSchema: {} }],
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
}

function repair(text: string, pieceLength: number, state: RepairState): void {
  const output = new OutputRepair(state, call, { onText: () => {}, onReasoning: () => {} })
  for (let at = 0; at < text.length; at += pieceLength) output.onText(text.slice(at, at + pieceLength))
  output.end()
}

/** Pieces that take longer than linear time allows. */
async function slowest(pieces: readonly string[], pieceLength: number, state: RepairState = {}): Promise<string[]> {
  const slow: string[] = []
  for (const piece of pieces) {
    const text = piece.repeat(length / piece.length)
    const read = (): void => repair(text, pieceLength, { ...state })
    const took = await cpuMsOf(read)
    if (took > length / 200 && (await cpuMsOf(read)) > length / 200)
      slow.push(`${JSON.stringify(piece)}: ${took.toFixed(0)} ms`)
  }
  return slow
}

test('white space and marks without end are read in linear time as they stream', async () => {
  expect(await slowest(['\n\n', '\u2028', '`', '~a'], 7)).toEqual([])
})

test('closing tags that a text only mentions are read in linear time', async () => {
  const state = { answersUntilForgotten: 3 }
  expect(await slowest(['a `</think>` ', ' </think>', '("</think>'], length, state)).toEqual([])
})
