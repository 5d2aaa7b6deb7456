import { actionSettings, type ActionSettings } from './action-settings.ts'
import { engineSettings, type EngineSettings } from './engine-settings.ts'
import { modelSettings, type ModelSettings } from './model-settings.ts'
import type { Setting } from './readers.ts'
import { serviceSettings, type ServiceSettings } from './service-settings.ts'

/** The settings by the name the program calls them. */
export interface SettingTable extends ServiceSettings, EngineSettings, ModelSettings, ActionSettings {}

/** Every setting, in the order a person reads them: the help, the README and the reader are made from this table. */
export const settingTable: SettingTable = { ...serviceSettings, ...engineSettings, ...modelSettings, ...actionSettings }

/** What a person is told of a setting. */
export interface SettingDescription extends Pick<Setting<unknown>, 'name' | 'meaning' | 'allowed' | 'without'> {
  readonly isAdvanced: boolean
}

/** Every setting for a person to read, in order. */
export function describeSettings(): SettingDescription[] {
  return Object.values<Setting<unknown>>({ ...settingTable }).map(
    ({ name, meaning, allowed, without, isAdvanced = false }) => ({ name, meaning, allowed, without, isAdvanced }),
  )
}
