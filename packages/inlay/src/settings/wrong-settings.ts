import type { Environment, Setting } from './readers.ts'
import { settingTable, type SettingTable } from './setting-table.ts'

/** Values of the settings that are set. */
export type Values = { readonly [Name in keyof SettingTable]?: ReturnType<SettingTable[Name]['read']> }

/** Reads each setting of the table; adds a line to `faults` for each invalid one. */
export function readTable(env: Environment, faults: string[]): Values {
  const values: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries<Setting<unknown>>({ ...settingTable })) {
    const text = env[setting.name]?.trim()
    if (text === undefined || text === '') continue
    const value = setting.read(text)
    if (value === undefined) faults.push(wrongSetting(setting, text))
    else values[key] = value
  }
  // Each value was read by the setting with the same key.
  return values as Values
}

/** Error message for an invalid value. Secrets are not repeated. */
export function wrongSetting(setting: Setting<unknown>, given: string): string {
  const shown = setting.isSecret === true ? 'the value given' : `"${given.slice(0, 100)}"`
  return `${setting.name}: ${shown} is not allowed; use ${setting.allowed}.`
}

/** Warnings about unknown variables, such as misspelt names, which have no effect. */
export function unknownSettings(env: Environment): string[] {
  const known = new Set<string>(Object.values(settingTable).map(({ name }) => name))
  return Object.keys(env)
    .filter((name) => name.startsWith('INLAY_') && !known.has(name))
    .sort()
    .map((name) => `${name} is no setting of Inlay and has no effect.`)
}
