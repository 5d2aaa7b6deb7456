import type { ActionAsker, ActionSource } from '@inlay/agent'
import { must, mustEqual, toTests, withClosing, type Checks, type ConformanceTest } from '../contract.ts'

export interface ActionSourceUnderTest {
  readonly source: ActionSource
  /** A caller for whom it has actions. Default: a caller without headers. */
  readonly asker?: ActionAsker
  /** Names that it lists for callers who have different actions. Default: what each of them gets is not compared. */
  readonly lists?: readonly { readonly asker: ActionAsker; readonly names: readonly string[] }[]
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** Creates a source; called for each test. */
export type MakeActionSource = () => ActionSourceUnderTest | Promise<ActionSourceUnderTest>

const somebody: ActionAsker = { caller: { id: 'somebody', scopes: ['chat'] } }

/**
 * Requirements of every `ActionSource`, as a list for any test runner. No action is called; the actions of a source
 * have their own tests, `actionConformance`.
 * @example for (const [title, run] of actionSourceConformance(make)) test(title, run)
 */
export function actionSourceConformance(make: MakeActionSource): ConformanceTest[] {
  return toTests(checks, (check) => withClosing(make, check))
}

const checks: Checks<ActionSourceUnderTest> = {
  async 'what it lists can be called: whole ids above 0, and names that models can say'({ source, asker = somebody }) {
    const listed = await source.list(asker)
    must(listed.length > 0, 'there is something to list')
    for (const { id, name } of listed) {
      must(Number.isSafeInteger(id) && id > 0, `${id} is a whole number above 0`)
      must(/^[\w-]{1,64}$/.test(name), `${name} has 1 to 64 letters, digits, _ and -`)
    }
    const keys = listed.map(({ id, name }) => JSON.stringify([id, name]))
    must(new Set(keys).size === keys.length, 'nothing is listed twice')
  },
  async 'it holds the ids that it lists, and none that cannot be'({ source, asker = somebody }) {
    for (const { id } of await source.list(asker)) must(await source.holds(id), `it holds ${id}`)
    for (const id of [-1, 0, 1.5, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.NaN])
      must(!(await source.holds(id)), `it does not hold ${id}`)
  },
  async 'it lists the same again, also when asked by several at once'({ source, asker = somebody }) {
    const idsOf = async (each: ActionAsker): Promise<unknown> =>
      (await source.list(each)).map(({ id, name }) => [id, name])
    const first = await idsOf(asker)
    for (const again of await Promise.all([idsOf(asker), idsOf({ ...asker }), idsOf(asker)]))
      mustEqual(again, first, 'what is listed again')
  },
  async 'each caller gets their own list, also beside and after others'({ source, lists = [] }) {
    const namesFor = async (asker: ActionAsker): Promise<string[]> =>
      (await source.list(asker)).map(({ name }) => name).toSorted()
    const expected = lists.map(({ names }) => names.toSorted())
    const inTurn: unknown[] = []
    for (const { asker } of lists) inTurn.push(await namesFor(asker))
    mustEqual(inTurn, expected, 'lists of one after the other')
    const together = await Promise.all(lists.map(({ asker }) => namesFor(asker)))
    mustEqual(together, expected, 'lists side by side')
  },
  async 'it answers whoever asks, also without any headers'({ source, asker = somebody }) {
    must(Array.isArray(await source.list({ caller: asker.caller })), 'there is a list, if an empty one')
  },
}
