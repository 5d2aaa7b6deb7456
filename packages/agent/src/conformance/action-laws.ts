import { actionOf, inWorld, makeCall, type ActionWorld, type MakeAction } from './action-fixture.ts'
import { callLaws } from './call-laws.ts'
import { hasCallOrder, isPacket } from './call-order.ts'
import { endingLaws } from './ending-laws.ts'
import { must, mustEqual, type Law } from './law.ts'
import { oddArguments } from './odd-arguments.ts'

/**
 * What every `Action` must hold, as a plain list any test runner can loop over. Calls are made as a run makes them.
 * Each law makes a world of its own, so they may run in any order.
 * @param options `patienceMs`: longest wait for a call that has to end at once, in milliseconds; default 10 000
 * @example for (const [title, run] of actionLaws(() => ({ action, works: [{ number: 'A-7' }] }))) test(title, run)
 */
export function actionLaws(make: MakeAction, { patienceMs = 10_000 }: { readonly patienceMs?: number } = {}): Law[] {
  return [...declarationLaws(make), ...argumentLaws(make), ...callLaws(make), ...endingLaws(make, patienceMs)]
}

function declarationLaws(make: MakeAction): Law[] {
  return [
    [
      'it has a whole id above 0, a name that models can call, and words for people and for models',
      () =>
        inWorld(make, async (world) => {
          const { id, name, displayName, description } = actionOf(world)
          must(Number.isSafeInteger(id) && id > 0, 'the id is a whole number above 0')
          must(/^[\w-]{1,64}$/.test(name), 'the name has 1 to 64 letters, digits, _ and -')
          must(displayName.trim() !== '', 'the display name is not blank')
          must(description.trim() !== '', 'the description is not blank')
        }),
    ],
    [
      'its arguments are described by a JSON schema of an object, the same each time',
      () =>
        inWorld(make, async (world) => {
          const schema = schemaOf(world)
          must(schema['type'] === 'object', 'the type of the schema is object')
          must(isJson(schema), 'the schema is JSON')
          mustEqual(schemaOf(world), schema, 'the schema asked for again')
        }),
    ],
    [
      'its start packet is the one of its kind, the same each time',
      () =>
        inWorld(make, async (world) => {
          const { start } = actionOf(world)
          if (!start) return
          const packet = start()
          if (packet) must(isPacket(packet), `${packet.type} fits its schema`)
          mustEqual(start(), packet, 'the start packet made again')
        }),
    ],
  ]
}

function argumentLaws(make: MakeAction): Law[] {
  return [
    [
      'arguments that do not fit are refused before anything is done, in words that say so',
      () =>
        inWorld(make, async (world) => {
          const action = actionOf(world)
          const required = schemaOf(world)['required']
          const lacking = Array.isArray(required) && required.length > 0 ? [{}] : []
          for (const input of [null, 'text', 7, true, ['list'], ...lacking, ...(world.misfits ?? [])]) {
            const { packets, text, failed } = await makeCall(world, input)
            const shown = JSON.stringify(input)
            must(failed, `${shown} is refused`)
            must(/do not fit/.test(text), `the model is told that ${shown} does not fit`)
            must(hasCallOrder(packets, action.builtIn, 'fails'), `nothing is told of ${shown} but its start and end`)
            must(packets.length <= 2, `nothing is told of ${shown} but its start and end`)
          }
        }),
    ],
    [
      'arguments that are no JSON are refused',
      () =>
        inWorld(make, async (world) => {
          const { failed, text } = await makeCall(world, undefined)
          must(failed && /JSON/.test(text), 'the model is told that its arguments are no JSON')
        }),
    ],
    [
      'whatever its arguments hold, a call ends in the order of its kind and the model reads how',
      () =>
        inWorld(make, async (world) => {
          const { builtIn } = actionOf(world)
          for (const input of oddArguments(world.works[0])) {
            const { packets, text } = await makeCall(world, input)
            const shown = JSON.stringify(input).slice(0, 100)
            const told = packets.map(({ type }) => type).join(', ')
            const isOrdered = hasCallOrder(packets, builtIn, 'works') || hasCallOrder(packets, builtIn, 'fails')
            must(isOrdered && packets.every(isPacket), `packets of its kind in their order for ${shown}, not ${told}`)
            must(text.trim() !== '' && text.isWellFormed(), `text that can be sent, for ${shown}`)
          }
        }),
    ],
    [
      'arguments stay as they were given',
      () =>
        inWorld(make, async (world) => {
          for (const input of world.works) {
            const before = JSON.stringify(input)
            const given: unknown = deepFrozen(JSON.parse(before))
            must(!(await makeCall(world, given)).failed, 'it works with arguments that cannot be changed')
            mustEqual(given, JSON.parse(before), 'the arguments after the call')
          }
        }),
    ],
  ]
}

function schemaOf(world: ActionWorld): Record<string, unknown> {
  return actionOf(world).input['~standard'].jsonSchema.input({ target: 'draft-07' })
}

function isJson(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson)
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function deepFrozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) deepFrozen(one)
  return Object.freeze(value)
}
