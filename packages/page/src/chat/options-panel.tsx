import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AgentAction, AnswerFilters, AnswerSettings, ListedModel, Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { Button } from '../controls/button.tsx'
import { onEscape } from '../controls/on-escape.ts'
import { useListener } from '../controls/use-listener.ts'
import { useFilterValues } from './use-filter-values.ts'

interface OptionsPanelProps {
  readonly service: Pick<Service, 'filterValues'>
  readonly settings: AnswerSettings
  readonly change: (settings: AnswerSettings) => void
  readonly models: readonly ListedModel[]
  readonly actions: readonly AgentAction[]
  readonly close: () => void
}

export function OptionsPanel({ service, settings, change, models, actions, close }: OptionsPanelProps) {
  const panel = useRef<HTMLDivElement>(null)
  const words = texts.chat.options
  useLayoutEffect(() => {
    const { current } = panel
    const place = current?.parentElement?.getBoundingClientRect()
    if (!current || !place) return
    const below = innerHeight - place.bottom
    current.classList.toggle('below', below > place.top)
    // The question grows by what is chosen.
    current.style.maxHeight = `${Math.max(240, below - 112, place.top - 16)}px`
    current.focus({ preventScroll: true })
  }, [])
  // On the window, since a clicked choice that disappears loses the focus. Capturing, since Escape also stops an
  // answer.
  useListener(window, 'keydown', (event) => !event.defaultPrevented && onEscape(close)(event), { capture: true })
  return (
    <div
      ref={panel}
      class="options-panel u-grid u-gap-12 u-small u-surface u-scroll u-line u-round u-shadow u-inside-16"
      role="group"
      aria-label={words.title}
      tabIndex={-1}
    >
      <ModelFields settings={settings} change={change} models={models} />
      {actions.length > 0 && <ActionFields settings={settings} change={change} actions={actions} />}
      <FilterFields
        service={service}
        filters={settings.filters}
        change={(filters) => change({ ...settings, filters: { ...settings.filters, ...filters } })}
      />
      <Button class="u-begin" onClick={close}>
        {texts.frame.close}
      </Button>
    </div>
  )
}

type FieldsProps = Pick<OptionsPanelProps, 'settings' | 'change'>

function ModelFields({ settings, change, models }: FieldsProps & Pick<OptionsPanelProps, 'models'>) {
  const words = texts.chat.options
  const usual = models.find(({ isDefault }) => isDefault)
  const model = models.find(({ id }) => id === settings.modelId) ?? usual
  return (
    <>
      {models.length > 1 && (
        <>
          <Choice
            label={texts.chat.model}
            none={usual === undefined ? words.usual : words.usualModel(usual.name)}
            value={settings.modelId}
            offered={models.filter(({ isDefault }) => !isDefault).map(({ id, name }) => [id, name])}
            choose={(modelId) => {
              const isSecond = settings.secondModelId === (modelId ?? usual?.id)
              // Another model may not support the effort.
              change({ ...settings, effort: null, modelId, ...(isSecond && { secondModelId: null }) })
            }}
          />
          <Choice
            label={words.beside}
            none={words.noSecond}
            value={settings.secondModelId}
            offered={models.filter(({ id }) => id !== model?.id).map(({ id, name }) => [id, name])}
            choose={(secondModelId) => change({ ...settings, secondModelId })}
          />
        </>
      )}
      {model?.hasTemperature === true && (
        <label class="option u-grid u-center u-gap-12">
          <span>{words.temperature}</span>
          <input
            type="number"
            min={0}
            max={2}
            step={0.1}
            placeholder={words.usual}
            value={settings.temperature ?? ''}
            onInput={({ currentTarget: { value, valueAsNumber } }) => {
              if (value === '') change({ ...settings, temperature: null })
              else if (valueAsNumber >= 0 && valueAsNumber <= 2) change({ ...settings, temperature: valueAsNumber })
            }}
          />
        </label>
      )}
      {model !== undefined && model.efforts.length > 0 && (
        <Choice
          label={words.effort}
          none={words.usual}
          value={settings.effort}
          offered={model.efforts.map((effort) => [
            effort,
            words.efforts[effort as keyof typeof words.efforts] ?? effort,
          ])}
          choose={(effort) => change({ ...settings, effort })}
        />
      )}
    </>
  )
}

interface ChoiceProps<Value> {
  readonly label: string
  /** Words for null. */
  readonly none: string
  readonly value: Value | null
  readonly offered: readonly (readonly [value: Value, name: string])[]
  readonly choose: (value: Value | null) => void
}

function Choice<Value extends string | number>({ label, none, value, offered, choose }: ChoiceProps<Value>) {
  return (
    <label class="option u-grid u-center u-gap-12">
      <span>{label}</span>
      <select
        value={value ?? ''}
        onChange={({ currentTarget: { selectedIndex } }) => choose(offered[selectedIndex - 1]?.[0] ?? null)}
      >
        <option value="">{none}</option>
        {offered.map(([known, name]) => (
          <option key={known} value={known}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function ActionFields({ settings, change, actions }: FieldsProps & Pick<OptionsPanelProps, 'actions'>) {
  const words = texts.chat.options
  const allowed = settings.allowedTools ?? actions.map(({ id }) => id)
  const allow = (id: number, isAllowed: boolean): void => {
    const next = actions
      .map((action) => action.id)
      .filter((known) => (known === id ? isAllowed : allowed.includes(known)))
    change({ ...settings, allowedTools: next.length === actions.length ? null : next })
  }
  return (
    <fieldset class="option-group u-grid u-gap-10 u-min-0 u-no-border">
      <legend class="u-bold">{words.actions}</legend>
      <div class="option-list">
        {actions.map(({ id, name }) => (
          <label class="u-inline-flex u-gap-6 u-center" key={id}>
            <input
              type="checkbox"
              checked={allowed.includes(id)}
              onChange={(event) => allow(id, event.currentTarget.checked)}
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Times that are offered, in days. */
const periods = [7, 30, 365]

interface FilterFieldsProps {
  readonly service: Pick<Service, 'filterValues'>
  readonly filters: AnswerFilters
  readonly change: (filters: Partial<AnswerFilters>) => void
}

function FilterFields({ service, filters, change }: FilterFieldsProps) {
  const words = texts.chat.options
  const [tagWords, setTagWords] = useState('')
  const values = useFilterValues(service, tagWords)
  const { sources, sets, tags, days } = filters
  const toggled = (list: readonly string[], name: string): readonly string[] =>
    list.includes(name) ? list.filter((known) => known !== name) : [...list, name]
  const choices = (name: string, offered: readonly string[], chosen: readonly string[], key: 'sources' | 'sets') =>
    offered.length > 1 || chosen.length > 0 ? (
      <div class="option u-grid u-center u-gap-12" role="group" aria-label={name}>
        <span>{name}</span>
        <span class="u-flex u-wrap u-gap-6">
          {[...new Set([...chosen, ...offered])].map((value) => (
            <button
              key={value}
              type="button"
              class="choice u-no-ground"
              aria-pressed={chosen.includes(value)}
              onClick={() => change({ [key]: toggled(chosen, value) })}
            >
              {value}
            </button>
          ))}
        </span>
      </div>
    ) : null
  return (
    <fieldset class="option-group u-grid u-gap-10 u-min-0 u-no-border">
      <legend class="u-bold">{words.filters}</legend>
      {choices(words.sources, values?.sources ?? [], sources, 'sources')}
      {choices(words.sets, values?.sets ?? [], sets, 'sets')}
      <Choice
        label={words.changed}
        none={words.anyTime}
        value={days}
        offered={periods.map((period) => [period, words.withinDays(period)])}
        choose={(chosen) => change({ days: chosen })}
      />
      {values !== undefined && (values.tags.length > 0 || tagWords !== '') && (
        <>
          <label class="option u-grid u-center u-gap-12">
            <span>{words.tags}</span>
            <input
              type="search"
              placeholder={words.findTags}
              value={tagWords}
              onInput={(event) => setTagWords(event.currentTarget.value)}
            />
          </label>
          <div class="u-flex u-wrap u-gap-6">
            {values.tags
              .filter(({ key, value }) => !tags.some((known) => known.key === key && known.value === value))
              .map((tag) => (
                <button
                  key={`${tag.key}\n${tag.value}`}
                  type="button"
                  class="choice u-no-ground"
                  onClick={() => change({ tags: [...tags, tag] })}
                >
                  {`${tag.key}: ${tag.value}`}
                </button>
              ))}
          </div>
        </>
      )}
    </fieldset>
  )
}
