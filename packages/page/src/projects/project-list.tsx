import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { onEscape } from '../controls/on-escape.ts'
import { projectAddress, type Place } from '../address.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon } from '../controls/icons.tsx'
import { toFailure, type Failure } from '../service/failure.ts'
import { texts } from '../texts/texts.ts'
import type { Projects } from './projects.ts'

export function ProjectList({ projects, place }: { projects: Projects; place: Place }) {
  const [isNaming, setIsNaming] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const words = texts.projects
  const create = (name: string): void => {
    setFailure(null)
    projects.create(name).then(
      (id) => {
        setIsNaming(false)
        location.hash = projectAddress(id)
      },
      (error: unknown) => setFailure(toFailure(error)),
    )
  }
  return (
    <section class="projects" aria-label={words.title}>
      <div class="projects-head u-flex u-between">
        <h2 class="u-muted u-tiny u-bold">{words.title}</h2>
        <IconButton icon="plus" label={words.create} aria-expanded={isNaming} onClick={() => setIsNaming(!isNaming)} />
      </div>
      {isNaming && <NewProject create={create} end={() => setIsNaming(false)} />}
      {failure !== null && <FailureNote failure={failure} />}
      <ul>
        {projects.all.map(({ id, name }) => (
          <li class="u-relative" key={id}>
            <a
              class="u-block u-text u-ellipsis u-center u-gap-8"
              href={projectAddress(id)}
              aria-current={place.view === 'project' && place.projectId === id ? 'page' : undefined}
              title={name}
              dir="auto"
            >
              <Icon name="folder" />
              {name}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function NewProject({ create, end }: { create: (name: string) => void; end: () => void }) {
  const [name, setName] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  return (
    <form
      class="new-project u-flex u-gap-6"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') create(name.trim())
      }}
      onKeyDown={onEscape(end)}
    >
      <input
        class="u-surface u-tall-34"
        type="text"
        maxLength={255}
        aria-label={texts.projects.name}
        placeholder={texts.projects.name}
        value={name}
        ref={field}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button u-beside-12 u-tall-34" disabled={name.trim() === ''}>
        {texts.frame.save}
      </button>
    </form>
  )
}
