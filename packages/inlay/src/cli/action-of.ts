import { suggestionFor } from '@inlay/protocol'
import { misuse, type CommandContext } from './command.ts'
import type { CommandName } from './command-table.ts'

/**
 * The action of a command that has several, `list` by default, and its arguments.
 * @param actions arguments by action, as the help shows them: `<id>` is required, `[id]` is not, `…` repeats
 * @throws INVALID_INPUT for an unknown action and for too few or too many arguments, with the right usage
 */
export function actionOf<Action extends string>(
  { words: [action = 'list', ...given] }: CommandContext,
  command: CommandName,
  actions: Readonly<Record<Action, string>>,
): { readonly action: Action; readonly given: readonly string[] } {
  if (!isAction(action, actions)) {
    const names = Object.keys(actions)
    const suggestion = suggestionFor(action, names)
    const known = suggestion === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${suggestion}?`
    throw misuse(`${command} has no action "${action}". ${known} See inlay help ${command}.`)
  }
  const usage = actions[action]
  const least = usage.match(/</g)?.length ?? 0
  const most = usage.includes('…') ? Infinity : (usage.match(/[<[]/g)?.length ?? 0)
  if (given.length >= least && given.length <= most) return { action, given }
  const fault = given.length < least ? `${command} ${action} needs ${usage}.` : `Unexpected argument "${given[most]}".`
  throw misuse(`${fault} Usage: inlay ${`${command} ${action} ${usage}`.trim()}`)
}

const isAction = <Action extends string>(name: string, actions: Readonly<Record<Action, string>>): name is Action =>
  Object.hasOwn(actions, name)
