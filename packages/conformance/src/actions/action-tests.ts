import { actionOf, makeCall, type ActionFixture, type MakeAction } from './action-fixture.ts'
import { callChecks, mixingCheck } from './call-tests.ts'
import { hasCallOrder, isPacket } from './call-order.ts'
import { endingChecks } from './ending-tests.ts'
import { must, mustEqual, toTests, withClosing, type Checks, type ConformanceTest } from '../contract.ts'
import { oddArguments } from './odd-arguments.ts'

export type { ActionFixture, MakeAction } from './action-fixture.ts'

/**
 * Requirements of every `Action`, as a list for any test runner. Calls are made as in a run. Each test creates its own
 * fixture, so the order does not matter.
 * @param options `patienceMs`: maximum wait for a call that has to end at once, in milliseconds; default 2000
 * @example for (const [title, run] of actionConformance(() => ({ action, works: [{ number: 'A-7' }] }))) test(title,
 * run)
 */
export function actionConformance(
  make: MakeAction,
  { patienceMs = 2_000 }: { readonly patienceMs?: number } = {},
): ConformanceTest[] {
  return [
    ...toTests({ ...checks, ...callChecks }, (check) => withClosing(make, check)),
    ...toTests(mixingCheck, (check) => check(make)),
    ...toTests(endingChecks, (check) => withClosing(make, (fixture) => check({ fixture, patienceMs }))),
  ]
}

const checks: Checks<ActionFixture> = {
  async 'it has a whole id above 0, a name that models can call, and words for people and for models'(fixture) {
    const { id, name, displayName, description } = actionOf(fixture)
    must(Number.isSafeInteger(id) && id > 0, 'the id is a whole number above 0')
    must(/^[\w-]{1,64}$/.test(name), 'the name has 1 to 64 letters, digits, _ and -')
    must(displayName.trim() !== '', 'the display name is not blank')
    must(description.trim() !== '', 'the description is not blank')
  },
  async 'its arguments are described by a JSON schema of an object, the same each time'(fixture) {
    const schema = schemaOf(fixture)
    must(schema['type'] === 'object', 'the type of the schema is object')
    must(isJson(schema), 'the schema is JSON')
    mustEqual(schemaOf(fixture), schema, 'the schema asked for again')
  },
  async 'its start packet is the one of its kind, the same each time'(fixture) {
    const { start } = actionOf(fixture)
    if (!start) return
    const packet = start()
    if (packet) must(isPacket(packet), `${packet.type} fits its schema`)
    mustEqual(start(), packet, 'the start packet made again')
  },
  async 'arguments that do not fit are refused before anything is done, in words that say so'(fixture) {
    const action = actionOf(fixture)
    const required = schemaOf(fixture)['required']
    const lacking = Array.isArray(required) && required.length > 0 ? [null, {}] : []
    for (const input of ['text', 7, true, ['list'], ...lacking, ...(fixture.misfits ?? [])]) {
      const { packets, text, failed } = await makeCall(fixture, input)
      const shown = JSON.stringify(input)
      must(failed, `${shown} is refused`)
      must(/do not fit/.test(text), `the model is told that ${shown} does not fit`)
      must(hasCallOrder(packets, action.builtIn, 'fails'), `nothing is told of ${shown} but its start and end`)
      must(packets.length <= 2, `nothing is told of ${shown} but its start and end`)
    }
  },
  async 'arguments that are no JSON are refused'(fixture) {
    const { failed, text } = await makeCall(fixture, undefined)
    must(failed && /JSON/.test(text), 'the model is told that its arguments are no JSON')
  },
  async 'whatever its arguments hold, a call ends in the order of its kind and the model reads how'(fixture) {
    const { builtIn } = actionOf(fixture)
    for (const input of oddArguments(fixture.works[0])) {
      const { packets, text } = await makeCall(fixture, input)
      const shown = JSON.stringify(input).slice(0, 100)
      const types = packets.map(({ type }) => type).join(', ')
      const isOrdered = hasCallOrder(packets, builtIn, 'works') || hasCallOrder(packets, builtIn, 'fails')
      must(isOrdered && packets.every(isPacket), `packets of its kind in their order for ${shown}, not ${types}`)
      must(text.trim() !== '' && text.isWellFormed(), `text that can be sent, for ${shown}`)
    }
  },
  async 'arguments stay as they were given'(fixture) {
    for (const input of fixture.works) {
      const before = JSON.stringify(input)
      const given: unknown = deepFrozen(JSON.parse(before))
      must(!(await makeCall(fixture, given)).failed, 'it works with arguments that cannot be changed')
      mustEqual(given, JSON.parse(before), 'the arguments after the call')
    }
  },
}

function schemaOf(fixture: ActionFixture): Record<string, unknown> {
  return actionOf(fixture).input['~standard'].jsonSchema.input({ target: 'draft-07' })
}

function isJson(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson)
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function deepFrozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) deepFrozen(item)
  return Object.freeze(value)
}
