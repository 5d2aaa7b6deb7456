import { holdSchema, type HoldSnapshot } from '@inlay/protocol/administration'
import * as v from 'valibot'
import { actionOf } from './action-of.ts'
import { misuse, textOption, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { jsonOf, withService } from './service.ts'
import { flag, option } from './shared-options.ts'

export const holds: Command = {
  ...commandTable.holds,
  details: [
    'Until a hold is lifted, nothing of the person is removed: not by retention, not by themselves, not by inlay erase.',
    'A person is the id returned by authenticate, or the owner of a key (see inlay keys list).',
    'Use the number list by list for lift <id>.',
  ],
  words: [0, Number.POSITIVE_INFINITY],
  options: {
    all: flag('hold the data of everybody', { action: 'place' }),
    reason: option('text', 'why, for administrators: a case, for instance', { action: 'place' }),
  },
  async run(context) {
    const {
      action,
      given: [word = null],
    } = actionOf(context, holds, { list: '', place: '[person]', lift: '<id>' })
    const isForAll = context.options['all'] === true
    if (action === 'place' && isForAll === (word !== null))
      throw misuse('holds place needs a person, or --all: inlay holds place ann@example.com --reason "Case 7".')
    if (action === 'lift' && !/^\d{1,9}$/.test(String(word)))
      throw misuse('Specify a hold by its number, see inlay holds list.')
    const body = JSON.stringify({ person: word, reason: textOption(context, 'reason') ?? '' })
    const { output } = context
    const list = await withService(context, async (service) => {
      if (action === 'place') return [await jsonOf(service, '/admin/holds', holdSchema, { method: 'POST', body })]
      if (action === 'list') return jsonOf(service, '/admin/holds', v.array(holdSchema))
      return [await jsonOf(service, `/admin/holds/${word}`, holdSchema, { method: 'DELETE' })]
    })
    if (output.isJson) output.json(action === 'list' ? list : list[0])
    else if (action === 'list' && list.length === 0) output.note('Nobody is under a legal hold.')
    else for (const hold of list) output.line(`${action === 'lift' ? 'Lifted: ' : ''}${rowOf(hold)}`)
    return 0
  },
}

const rowOf = ({ id, person, reason, placed_at: at }: HoldSnapshot): string =>
  [String(id).padStart(3), at.slice(0, 10), person ?? 'everybody', ...(reason ? [reason] : [])].join('  ')
