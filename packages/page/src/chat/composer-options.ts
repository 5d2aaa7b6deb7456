import { texts } from '../texts/texts.ts'
import type { AgentAction, AnswerSettings, ListedModel } from '../service/service.ts'

export interface ChosenSetting {
  readonly label: string
  readonly without: AnswerSettings
}

/** Labels of the settings that differ from the default, each with the settings without it. */
export function chosenSettings(
  settings: AnswerSettings,
  models: readonly ListedModel[],
  actions: readonly AgentAction[],
): readonly ChosenSetting[] {
  const { modelId, secondModelId, temperature, effort, allowedTools, filters } = settings
  const words = texts.chat.options
  const chosen: ChosenSetting[] = []
  const add = (label: string, change: Partial<AnswerSettings>): void =>
    void chosen.push({ label, without: { ...settings, ...change } })
  if (modelId !== null) add(models.find(({ id }) => id === modelId)?.name ?? texts.chat.model, { modelId: null })
  const second = models.find(({ id }) => id === secondModelId)
  if (second !== undefined) add(words.besideOf(second.name), { secondModelId: null })
  if (temperature !== null) add(words.temperatureOf(temperature), { temperature: null })
  if (effort !== null)
    add(words.effortOf(words.efforts[effort as keyof typeof words.efforts] ?? effort), { effort: null })
  if (allowedTools !== null)
    add(words.someActions(actions.filter(({ id }) => allowedTools.includes(id)).length), { allowedTools: null })
  const filter = (label: string, change: Partial<AnswerSettings['filters']>): void =>
    add(label, { filters: { ...filters, ...change } })
  for (const name of filters.sources) filter(name, { sources: filters.sources.filter((known) => known !== name) })
  for (const name of filters.sets) filter(name, { sets: filters.sets.filter((known) => known !== name) })
  for (const tag of filters.tags)
    filter(`${tag.key}: ${tag.value}`, { tags: filters.tags.filter((known) => known !== tag) })
  if (filters.days !== null) filter(words.withinDays(filters.days), { days: null })
  return chosen
}

/** Settings without a second model that is offered no longer. */
export function withOfferedModels(settings: AnswerSettings, models: readonly ListedModel[]): AnswerSettings {
  if (settings.secondModelId === null || models.some(({ id }) => id === settings.secondModelId)) return settings
  return { ...settings, secondModelId: null }
}

/** Longer texts that are pasted become files, as a question of their length could not be overlooked; characters. */
const maxPasted = 4000

/** A pasted text as a file; null if it is short enough for the question itself. */
export function pastedFile(text: string, name: string): File | null {
  return text.length <= maxPasted ? null : new File([text], `${name}.txt`, { type: 'text/plain' })
}

/** The word before the cursor that asks for a suggestion: a command at the beginning, or a name behind an @. */
export interface Trigger {
  readonly kind: 'command' | 'mention'
  readonly word: string
  /** Index of its first character in the text. */
  readonly start: number
}

export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret)
  const command = /^\/(\p{L}*)$/u.exec(before)
  if (command) return { kind: 'command', word: command[1] ?? '', start: 0 }
  const mention = /(?:^|\s)@([^\s@][^@\n]{0,39}|)$/u.exec(before)
  const word = mention?.[1]
  return word === undefined ? null : { kind: 'mention', word, start: caret - word.length - 1 }
}
