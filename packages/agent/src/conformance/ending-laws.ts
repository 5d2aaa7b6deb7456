import type { PacketBody } from '@inlay/protocol'
import { actionOf, inWorld, makeCall, newTurn, type ActionWorld, type MakeAction } from './action-fixture.ts'
import { hasCallOrder } from './call-order.ts'
import { must, mustEqual, mustSettle, type Law } from './law.ts'

/** Laws of calls that end before they are done, and of what comes after. */
export function endingLaws(make: MakeAction, patienceMs: number): Law[] {
  return [
    [
      'a call that fails tells the model why, and clients no result',
      () =>
        inWorld(make, async (world) => {
          if (world.fails === undefined) return
          const { packets, text, failed } = await makeCall(world, world.fails)
          // What can answer in part tells what failed in its own form, and clients by an error.
          must(failed || packets.some(tellsFailure), 'it fails')
          must(!failed || /^Tool failed with error: .*\p{L}/su.test(text), 'the model is told what failed')
          must(text.length <= 2_000 && !/\n\s+at .+:\d+/.test(text), 'it is told in a few words, without a stack')
          mustHaveFailed(world, packets)
        }),
    ],
    [
      'a call of a run that was stopped does not begin',
      () =>
        inWorld(make, async (world) => {
          const { packets, failed } = await makeCall(world, world.works[0], { signal: AbortSignal.abort() })
          must(failed, 'it fails')
          mustHaveFailed(world, packets)
          const work = actionOf(world).run(world.works[0], newTurn(world, { signal: AbortSignal.abort() }))
          await mustSettle(work, patienceMs, 'a call with a signal that has aborted')
        }),
    ],
    [
      'a call ends soon after its signal aborts',
      () =>
        inWorld(make, async (world) => {
          if (world.lasts === undefined) return
          const stop = new AbortController()
          const checked = await actionOf(world).input['~standard'].validate(world.lasts)
          must(checked.issues === undefined, 'arguments that last fit')
          const work = actionOf(world).run(checked.value, newTurn(world, { signal: stop.signal }))
          const early = await Promise.race([work.then(over, over), soon()])
          must(early !== 'over', 'arguments that last do')
          stop.abort(new Error('stopped'))
          await mustSettle(work, patienceMs, 'a call whose signal aborts')
        }),
    ],
    [
      'a call that takes too long is ended, and the model is told',
      () =>
        inWorld(make, async (world) => {
          if (world.lasts === undefined) return
          const { packets, text, failed } = await makeCall(world, world.lasts, { limitMs: 50 })
          must(failed && /longer than/.test(text), 'the model is told that it took too long')
          mustHaveFailed(world, packets)
        }),
    ],
    [
      'a call says nothing once it has ended',
      () =>
        inWorld(make, async (world) => {
          const told: string[] = []
          const turn = newTurn(world, { emit: ({ type }) => void told.push(type) })
          const checked = await actionOf(world).input['~standard'].validate(world.works[0])
          must(checked.issues === undefined, 'arguments that work fit')
          await actionOf(world).run(checked.value, turn)
          const count = told.length
          await soon()
          mustEqual(told.slice(count), [], 'packets after the end')
        }),
    ],
  ]
}

/** Whether a packet says that a call failed: an error, or a custom tool's own word for it. */
function tellsFailure(packet: PacketBody): boolean {
  if (packet.type === 'error') return true
  if (packet.type !== 'custom_tool_delta') return false
  const { data } = packet
  return packet.error !== null || (typeof data === 'object' && data !== null && 'error' in data)
}

const over = (): 'over' => 'over'

/** Some turns of the event loop later. */
async function soon(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
}

function mustHaveFailed(world: ActionWorld, packets: readonly PacketBody[]): void {
  const told = packets.map(({ type }) => type).join(', ')
  must(hasCallOrder(packets, actionOf(world).builtIn, 'fails'), `a start, perhaps an error, one end: not ${told}`)
}
