import { isJsonObject, readJson } from '@inlay/protocol'
import { estimateTokens } from '../prompt/context-window.ts'
import { actionOf, inWorld, makeCall, type ActionWorld, type MakeAction, type ToldCall } from './action-fixture.ts'
import { hasCallOrder, isPacket } from './call-order.ts'
import { must, mustEqual, type Law } from './law.ts'

/** Laws of calls that work. */
export function callLaws(make: MakeAction): Law[] {
  return [
    [
      'a call that works tells what its kind tells, in order: its start first, its one end last',
      () =>
        inWorld(make, async (world) => {
          for (const input of world.works) mustWork(world, await makeCall(world, input))
        }),
    ],
    [
      'what the model reads is text that can be sent and stored, and of a built-in action an object of JSON',
      () =>
        inWorld(make, async (world) => {
          for (const input of [...world.works, ...longOf(world)]) {
            const { text } = await makeCall(world, input)
            must(text.trim() !== '', 'the text is not blank')
            must(text.isWellFormed(), 'the text has no half of a surrogate pair')
            if (actionOf(world).builtIn !== null) must(isJsonObject(readJson(text)), 'the text is an object of JSON')
          }
        }),
    ],
    [
      'what the model reads keeps to the room it has',
      () =>
        inWorld(make, async (world) => {
          for (const resultTokens of [500, 1_000, 4_000])
            for (const input of [...world.works, ...longOf(world)]) {
              const call = await makeCall(world, input, { resultTokens })
              mustWork(world, call)
              const tokens = estimateTokens(call.text)
              must(tokens <= resultTokens * 1.2 + 100, `${tokens} tokens where ${resultTokens} have room`)
            }
        }),
    ],
    [
      'numbers of documents in its result are those the turn gave out',
      () =>
        inWorld(make, async (world) => {
          for (const input of [...world.works, ...longOf(world)]) {
            const { text, cited } = await makeCall(world, input)
            const numbers = numbersIn(text)
            for (const number of numbers) must(cited.has(number), `number ${number} was given out`)
            must(new Set(numbers).size <= cited.size, 'no number is made up')
          }
        }),
    ],
    [
      'calls side by side are told apart: each gives what it gives alone',
      async () => {
        const { works } = await peek(make)
        const inputs = works.length > 1 ? works.slice(0, 2) : [works[0], works[0]]
        const alone: ToldCall[] = []
        for (const input of inputs) await inWorld(make, async (world) => void alone.push(await makeCall(world, input)))
        await inWorld(make, async (world) => {
          const together = await Promise.all(inputs.map(async (input) => makeCall(world, input)))
          mustEqual(together.map(shapeOf), alone.map(shapeOf), 'calls side by side')
        })
      },
    ],
  ]
}

function mustWork(world: ActionWorld, { packets, failed, text }: ToldCall): void {
  must(!failed, `it works: ${text.slice(0, 200)}`)
  for (const packet of packets) must(isPacket(packet), `${packet.type} fits its schema`)
  const told = packets.map(({ type }) => type).join(', ')
  must(hasCallOrder(packets, actionOf(world).builtIn, 'works'), `packets of its kind in their order, not ${told}`)
}

function longOf({ long }: ActionWorld): readonly unknown[] {
  return long === undefined ? [] : [long]
}

/** What a call told, without what may differ from one to the next: numbers, ids, how often it said that it is alive. */
function shapeOf({ packets, text }: ToldCall): unknown {
  const told = packets.filter(({ type }) => type !== 'image_generation_heartbeat')
  const masked = (value: string): string =>
    value.replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'id').replaceAll(/\d+/g, '#')
  return [masked(JSON.stringify(told)), masked(text)]
}

async function peek(make: MakeAction): Promise<Pick<ActionWorld, 'works'>> {
  let works: ActionWorld['works'] | undefined
  await inWorld(make, async (world) => void (works = world.works))
  if (!works) throw new Error('A world has arguments that work.')
  return { works }
}

/** Citation numbers in a result in the form of a search's. */
function numbersIn(text: string): number[] {
  const value = readJson(text)
  const results = isJsonObject(value) && Array.isArray(value['results']) ? value['results'] : []
  return results.flatMap((one: unknown) =>
    isJsonObject(one) && typeof one['document'] === 'number' ? [one['document']] : [],
  )
}
