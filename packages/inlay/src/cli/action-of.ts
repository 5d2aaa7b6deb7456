import { suggestionFor } from '@inlay/protocol'
import { misuse, type Command, type CommandContext } from './command.ts'

/**
 * The action of a command that has several, `list` by default, and its arguments.
 * @param actions arguments by action, as the help shows them: `<id>` is required, `[id]` is not, `…` repeats
 * @throws INVALID_INPUT for an unknown action, an option of another action, and too few or too many arguments, with the
 *   right usage
 */
export function actionOf<Action extends string>(
  { words: [action = 'list', ...given], options }: CommandContext,
  { usage: commandUsage, options: known }: Command,
  actions: Readonly<Record<Action, string>>,
): { readonly action: Action; readonly given: readonly string[] } {
  const command = commandUsage.split(' ')[0]!
  if (!isAction(action, actions)) {
    const names = Object.keys(actions)
    const suggestion = suggestionFor(action, names)
    const others = suggestion === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${suggestion}?`
    throw misuse(`${command} has no action "${action}". ${others} See inlay help ${command}.`)
  }
  for (const [name, { action: owner }] of Object.entries(known))
    if (options[name] !== undefined && owner !== undefined && owner !== action)
      throw misuse(
        `${command} ${action} has no option --${name}; ${command} ${owner} has one. See inlay help ${command}.`,
      )
  const usage = actions[action]
  const least = usage.match(/</g)?.length ?? 0
  const most = usage.includes('…') ? Infinity : (usage.match(/[<[]/g)?.length ?? 0)
  if (given.length >= least && given.length <= most) return { action, given }
  const fault = given.length < least ? `${command} ${action} needs ${usage}.` : `Unexpected argument "${given[most]}".`
  throw misuse(`${fault} Usage: inlay ${`${command} ${action} ${usage}`.trim()}`)
}

const isAction = <Action extends string>(name: string, actions: Readonly<Record<Action, string>>): name is Action =>
  Object.hasOwn(actions, name)
