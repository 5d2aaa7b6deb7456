import type { Action } from '../contracts/action.ts'

const citingKinds: ReadonlySet<string> = new Set(['SearchTool', 'WebSearchTool', 'OpenURLTool'])

type Declared = Pick<Action, 'isCiting' | 'builtIn'>

/** Whether results of an action can be cited. */
export const isCiting = ({ isCiting: declared, builtIn }: Declared): boolean =>
  declared ?? citingKinds.has(builtIn ?? '')

/** Whether they may turn out to be: actions of hosts do not have to declare it. */
export const mayCite = (action: Declared): boolean =>
  isCiting(action) || (action.isCiting === undefined && action.builtIn === null)
