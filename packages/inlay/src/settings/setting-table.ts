import { actionSettings, type ActionSettings } from './action-settings.ts'
import { engineSettings, type EngineSettings } from './engine-settings.ts'
import { modelSettings, type ModelSettings } from './model-settings.ts'
import type { Setting } from './readers.ts'
import { serviceSettings, type ServiceSettings } from './service-settings.ts'

/** All settings; keys are the names used in code. */
export interface SettingTable extends ServiceSettings, EngineSettings, ModelSettings, ActionSettings {}

/** All settings in documentation order. The help, the README and the reader are generated from this table. */
export const settingTable: SettingTable = { ...serviceSettings, ...engineSettings, ...modelSettings, ...actionSettings }

/** Description of a setting for users. */
export interface SettingDescription extends Pick<Setting<unknown>, 'name' | 'meaning' | 'allowed' | 'without'> {
  readonly isAdvanced: boolean
}

/** Descriptions of all settings, in order. */
export function describeSettings(): SettingDescription[] {
  return Object.values<Setting<unknown>>({ ...settingTable }).map(
    ({ name, meaning, allowed, without, isAdvanced = false }) => ({ name, meaning, allowed, without, isAdvanced }),
  )
}
