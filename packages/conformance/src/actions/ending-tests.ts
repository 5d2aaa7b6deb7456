import type { PacketBody } from '@inlay/protocol'
import { actionOf, makeCall, newTurn, type ActionFixture } from './action-fixture.ts'
import { hasCallOrder } from './call-order.ts'
import { must, mustBeError, mustEqual, mustSettle, type Checks } from '../contract.ts'

export const endingChecks: Checks<{ readonly fixture: ActionFixture; readonly patienceMs: number }> = {
  async 'a call that fails tells the model why, and clients no result'({ fixture }) {
    if (fixture.fails === undefined) return
    const { packets, text, failed } = await makeCall(fixture, fixture.fails)
    // An action with partial results reports failures in its own format, and to clients with an error packet.
    must(failed || packets.some(tellsFailure), 'it fails')
    must(!failed || /^Tool failed with error: .*\p{L}/su.test(text), 'the model is told what failed')
    must(text.length <= 2_000 && !/\n[^\S\n]+at .+:\d+/.test(text), 'it is told in a few words, without a stack')
    mustHaveFailed(fixture, packets)
  },
  async 'a call that rejects does so with an error, which has a message'({ fixture }) {
    if (fixture.fails === undefined) return
    const action = actionOf(fixture)
    const checked = await action.input['~standard'].validate(fixture.fails)
    must(checked.issues === undefined, 'arguments that fail fit the schema')
    const work = async (): Promise<unknown> => action.run(checked.value, newTurn(fixture))
    await work().catch((error: unknown) => mustBeError(error, 'the call'))
  },
  async 'a call of a run that was stopped does not begin'({ fixture, patienceMs }) {
    const { packets, failed } = await makeCall(fixture, fixture.works[0], { signal: AbortSignal.abort() })
    must(failed, 'it fails')
    mustHaveFailed(fixture, packets)
    const work = actionOf(fixture).run(fixture.works[0], newTurn(fixture, { signal: AbortSignal.abort() }))
    await mustSettle(work, patienceMs, 'a call with a signal that has aborted')
  },
  async 'a call ends soon after its signal aborts'({ fixture, patienceMs }) {
    const stop = new AbortController()
    // Without arguments for a long call, those that work are used.
    const input = fixture.lasts ?? fixture.works[0]
    const checked = await actionOf(fixture).input['~standard'].validate(input)
    must(checked.issues === undefined, 'the arguments fit')
    const work = actionOf(fixture).run(checked.value, newTurn(fixture, { signal: stop.signal }))
    const early = await Promise.race([work.then(over, over), soon()])
    must(fixture.lasts === undefined || early !== 'over', 'arguments that last do')
    stop.abort(new Error('stopped'))
    await mustSettle(work, patienceMs, 'a call whose signal aborts')
  },
  async 'a call that takes too long is ended, and the model is told'({ fixture }) {
    if (fixture.lasts === undefined) return
    const { packets, text, failed } = await makeCall(fixture, fixture.lasts, { timeoutMs: 50 })
    must(failed && /longer than/.test(text), 'the model is told that it took too long')
    mustHaveFailed(fixture, packets)
  },
  async 'a call says nothing once it has ended'({ fixture }) {
    const sent: string[] = []
    const turn = newTurn(fixture, { emit: ({ type }) => void sent.push(type) })
    const checked = await actionOf(fixture).input['~standard'].validate(fixture.works[0])
    must(checked.issues === undefined, 'arguments that work fit')
    await actionOf(fixture).run(checked.value, turn)
    const count = sent.length
    await soon()
    mustEqual(sent.slice(count), [], 'packets after the end')
  },
}

/** Whether a packet reports a failed call: an error, or the failure packet of a custom tool. */
function tellsFailure(packet: PacketBody): boolean {
  if (packet.type === 'error') return true
  if (packet.type !== 'custom_tool_delta') return false
  const { data } = packet
  return packet.error !== null || (typeof data === 'object' && data !== null && 'error' in data)
}

const over = (): 'over' => 'over'

async function soon(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
}

function mustHaveFailed(fixture: ActionFixture, packets: readonly PacketBody[]): void {
  const sent = packets.map(({ type }) => type).join(', ')
  must(hasCallOrder(packets, actionOf(fixture).builtIn, 'fails'), `a start, one end: not ${sent}`)
}
