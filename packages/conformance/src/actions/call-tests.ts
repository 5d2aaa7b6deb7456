import { isJsonObject, readJson } from '@inlay/protocol'
import { estimateTokens } from '@inlay/agent'
import type { EndedCall } from '@inlay/agent/call-alone'
import { actionOf, makeCall, type ActionFixture, type MakeAction } from './action-fixture.ts'
import { hasCallOrder, isPacket } from './call-order.ts'
import { must, mustEqual, withClosing, type Checks } from '../contract.ts'

export const callChecks: Checks<ActionFixture> = {
  async 'a call that works tells what its kind tells, in order: its start first, its one end last'(fixture) {
    for (const input of fixture.works) mustWork(fixture, await makeCall(fixture, input))
  },
  async 'what the model reads is text that can be sent and stored, and of a built-in action an object of JSON'(
    fixture,
  ) {
    for (const input of [...fixture.works, ...longOf(fixture)]) {
      const { text } = await makeCall(fixture, input)
      must(text.trim() !== '', 'the text is not blank')
      must(text.isWellFormed(), 'the text has no half of a surrogate pair')
      if (actionOf(fixture).builtIn !== null) must(isJsonObject(readJson(text)), 'the text is an object of JSON')
    }
  },
  async 'what the model reads keeps to the room it has'(fixture) {
    for (const resultTokens of [500, 1_000, 4_000])
      for (const input of [...fixture.works, ...longOf(fixture)]) {
        const call = await makeCall(fixture, input, { resultTokens })
        mustWork(fixture, call)
        const tokens = estimateTokens(call.text)
        must(tokens <= resultTokens * 1.2 + 100, `${tokens} tokens where ${resultTokens} have room`)
      }
  },
  async 'numbers of documents in its result are those the turn gave out'(fixture) {
    for (const input of [...fixture.works, ...longOf(fixture)]) {
      const { text, cited } = await makeCall(fixture, input)
      const numbers = numbersIn(text)
      for (const number of numbers) must(cited.has(number), `number ${number} was given out`)
      must(new Set(numbers).size <= cited.size, 'no number is made up')
    }
  },
}

export const mixingCheck: Checks<MakeAction> = {
  async 'calls do not mix, side by side or one after the other: each gives what it gives alone'(make) {
    const { works } = await peek(make)
    const inputs = works.length > 1 ? works.slice(0, 2) : [works[0], works[0]]
    const alone: EndedCall[] = []
    for (const input of inputs)
      await withClosing(make, async (fixture) => void alone.push(await makeCall(fixture, input)))
    const [first, second] = alone.map(({ packets, text }) => JSON.stringify([packets, text]))
    must(works.length === 1 || first !== second, 'two arguments that work have results that differ')
    await withClosing(make, async (fixture) => {
      if (works.length === 1) return
      const inTurn: EndedCall[] = []
      for (const input of inputs) inTurn.push(await makeCall(fixture, input))
      mustEqual(inTurn.map(shapeOf), alone.map(shapeOf), 'calls one after the other')
    })
    await withClosing(make, async (fixture) => {
      const together = await Promise.all(inputs.map(async (input) => makeCall(fixture, input)))
      mustEqual(together.map(shapeOf), alone.map(shapeOf), 'calls side by side')
    })
  },
}

function mustWork(fixture: ActionFixture, { packets, failed, text }: EndedCall): void {
  must(!failed, `it works: ${text.slice(0, 200)}`)
  for (const packet of packets) must(isPacket(packet), `${packet.type} fits its schema`)
  const sent = packets.map(({ type }) => type).join(', ')
  must(hasCallOrder(packets, actionOf(fixture).builtIn, 'works'), `packets of its kind in their order, not ${sent}`)
}

function longOf({ long }: ActionFixture): readonly unknown[] {
  return long === undefined ? [] : [long]
}

/** Packets and text of a call without the parts that may differ between calls: numbers, ids, heartbeats. */
function shapeOf({ packets, text }: EndedCall): unknown {
  const sent = packets.filter(({ type }) => type !== 'image_generation_heartbeat')
  const masked = (value: string): string =>
    value.replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'id').replaceAll(/\d+/g, '#')
  return [masked(JSON.stringify(sent)), masked(text)]
}

async function peek(make: MakeAction): Promise<Pick<ActionFixture, 'works'>> {
  let works: ActionFixture['works'] | undefined
  await withClosing(make, async (fixture) => void (works = fixture.works))
  if (!works) throw new Error('A fixture has arguments that work.')
  return { works }
}

/** Citation numbers in a result with the format of a search result. */
function numbersIn(text: string): number[] {
  const value = readJson(text)
  const results = isJsonObject(value) && Array.isArray(value['results']) ? value['results'] : []
  return results.flatMap((result: unknown) =>
    isJsonObject(result) && typeof result['document'] === 'number' ? [result['document']] : [],
  )
}
