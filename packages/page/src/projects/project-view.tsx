import type { UserFile } from '@inlay/protocol'
import { useEffect, useRef, useState } from 'preact/hooks'
import { chatAddress } from '../address.ts'
import { Button } from '../controls/button.tsx'
import { Confirm } from '../controls/confirm.tsx'
import { FailureNote } from '../controls/failure-note.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { FileField } from '../controls/file-field.tsx'
import { NamingForm } from '../controls/naming-form.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon } from '../controls/icons.tsx'
import { toFailure, type Failure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { announceChange, useChange } from '../service/tabs.ts'
import { formatDay } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'
import '../styles/project.css'

interface ProjectViewProps {
  readonly service: Service
  readonly projectId: number
  readonly startChat: () => void
  readonly removed: () => void
}

export function ProjectView({ service, projectId, startChat, removed }: ProjectViewProps) {
  const { details, failure, change } = useProject(service, projectId)
  const words = texts.projects
  if (details === undefined)
    return (
      <section class="documents project u-view" aria-label={words.title}>
        {failure === null ? <p class="nothing u-muted">{texts.frame.loading}</p> : <FailureNote failure={failure} />}
      </section>
    )
  const { project, files } = details
  return (
    <section class="documents project u-view" aria-labelledby="project-title">
      <ProjectHead
        key={project.name}
        name={project.name}
        rename={(name) => change(service.projects.update(projectId, { name }))}
        startChat={startChat}
      />
      {failure !== null && <FailureNote failure={failure} />}
      <Instructions
        key={`${projectId} ${project.instructions ?? ''}`}
        text={project.instructions ?? ''}
        save={(text) =>
          change(service.projects.update(projectId, { instructions: text.trim() === '' ? null : text.trim() }))
        }
      />
      <Files
        files={files}
        key={projectId}
        add={async (file) => {
          await service.uploadTo(projectId, file)
          announceChange({ kind: 'projects' })
        }}
        remove={(id) => change(service.projects.unlink(projectId, id))}
      />
      <h2 class="u-bold u-body">{texts.frame.chats}</h2>
      {project.chat_sessions.length === 0 ? (
        <p class="nothing u-muted">{words.noChats}</p>
      ) : (
        <ul class="document-list">
          {project.chat_sessions.map((chat) => (
            <ProjectChat
              key={chat.id}
              id={chat.id}
              name={chat.name === '' ? texts.frame.newChat : chat.name}
              day={formatDay(new Date(chat.time_updated))}
              takeOut={() => change(service.projects.moveSession(chat.id, null))}
            />
          ))}
        </ul>
      )}
      <DeleteProject
        name={project.name}
        remove={() =>
          void change(service.projects.remove(projectId)).then((isDone) => {
            if (isDone) removed()
          })
        }
      />
    </section>
  )
}

/** How long to wait until files that are being read are looked at again, in milliseconds. */
const readingMs = 1_500

function useProject(service: Service, projectId: number) {
  const loaded = useLoaded(() => service.projects.get(projectId), [service, projectId])
  const { value: details, failure: readFailure, reload } = loaded
  const [failure, setFailure] = useState<Failure | null>(null)
  useChange(['chat', 'projects'], () => void reload())
  useEffect(() => {
    const isReading = details?.files.some(({ status }) => status === 'PROCESSING') === true
    if (!isReading || readFailure?.retryable === false) return undefined
    const timer = setInterval(() => {
      if (document.hidden) return
      clearInterval(timer)
      void reload()
    }, readingMs)
    return () => clearInterval(timer)
  }, [details, readFailure])
  return {
    details,
    failure: failure ?? readFailure,
    /** Waits for a change, then reads the project again. @returns whether it was made */
    change: async (work: Promise<unknown>): Promise<boolean> => {
      try {
        await work
        setFailure(null)
        // This also reloads the project.
        announceChange({ kind: 'projects' })
        return true
      } catch (error) {
        setFailure(toFailure(error))
        return false
      }
    },
  }
}

interface ProjectHeadProps {
  readonly name: string
  readonly rename: (name: string) => void
  readonly startChat: () => void
}

function ProjectHead({ name, rename, startChat }: ProjectHeadProps) {
  const [isNaming, setIsNaming] = useState(false)
  return (
    <div class="documents-head project-head u-row u-wrap">
      {!isNaming ? (
        <>
          <h1 id="project-title" dir="auto">
            {name}
          </h1>
          <Button onClick={() => setIsNaming(true)}>{texts.chats.rename}</Button>
        </>
      ) : (
        <NamingForm
          name={name}
          label={texts.projects.name}
          maxLength={255}
          save={rename}
          end={() => setIsNaming(false)}
        >
          <h1 class="visually-hidden" id="project-title">
            {name}
          </h1>
        </NamingForm>
      )}
      <Button kind="filled" class="u-at-end" onClick={startChat}>
        <Icon name="plus" />
        {texts.projects.newChat}
      </Button>
    </div>
  )
}

function Instructions({ text, save }: { text: string; save: (text: string) => void }) {
  const [given, setGiven] = useState(text)
  const words = texts.projects
  return (
    <form
      class="project-instructions"
      onSubmit={(event) => {
        event.preventDefault()
        save(given)
      }}
    >
      <h2 class="u-bold u-body">
        <label for="project-instructions">{words.instructions}</label>
      </h2>
      <p class="lead" id="instructions-lead">
        {words.instructionsLead}
      </p>
      <textarea
        class="u-surface u-full u-round-12 u-above-8"
        id="project-instructions"
        aria-describedby="instructions-lead"
        rows={4}
        dir="auto"
        placeholder={words.instructionsExample}
        value={given}
        onInput={(event) => setGiven(event.currentTarget.value)}
      />
      {given.trim() !== text && (
        <div class="row u-above-8">
          <button type="submit" class="button">
            {texts.frame.save}
          </button>
          <Button onClick={() => setGiven(text)}>{texts.frame.cancel}</Button>
        </div>
      )}
    </form>
  )
}

interface FilesProps {
  readonly files: readonly UserFile[]
  readonly add: (file: File) => Promise<unknown>
  readonly remove: (id: string) => void
}

function Files({ files, add, remove }: FilesProps) {
  const picker = useRef<HTMLInputElement>(null)
  const [isAdding, setIsAdding] = useState(false)
  const words = texts.projects
  const [refused, setRefused] = useState<readonly string[]>([])
  const addAll = async (chosen: readonly File[]): Promise<void> => {
    setIsAdding(true)
    setRefused([])
    for (const file of chosen)
      await add(file).catch((error: unknown) =>
        setRefused((known) => [...known, `${file.name}: ${toFailure(error).message}`]),
      )
    setIsAdding(false)
  }
  return (
    <>
      <div class="u-row u-gap-12 u-as-tall u-between">
        <h2 class="u-bold u-body">{words.files}</h2>
        <Button disabled={isAdding} onClick={() => picker.current?.click()}>
          <Icon name="plus" />
          {texts.frame.addFiles}
        </Button>
        <FileField picker={picker} label={words.filesToAdd} take={(chosen) => void addAll(chosen)} />
      </div>
      {refused.map((message) => (
        <FailureNote key={message} failure={{ message }} />
      ))}
      {files.length === 0 && <p class="nothing u-muted">{words.noFiles}</p>}
      {files.length > 0 && (
        <ul class="project-files u-flex u-wrap u-gap-8">
          {files.map(({ id, name, status, reason }) => (
            <li key={id} class="file-chip">
              <Icon name="file" />
              <span dir="auto">{status === 'PROCESSING' ? words.reading(name) : name}</span>
              {reason !== null && <span class="failure-words">{reason}</span>}
              <button
                type="button"
                aria-label={words.takeOut(name)}
                title={words.takeOut(name)}
                onClick={() => remove(id)}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function ProjectChat({ id, name, day, takeOut }: { id: string; name: string; day: string; takeOut: () => void }) {
  const label = texts.projects.takeOut(name)
  return (
    <li class="document chat-row u-grid u-center u-line-below">
      <a class="document-name u-medium u-anywhere" href={chatAddress(id)} dir="auto">
        {name}
      </a>
      <span class="state u-inline-flex u-center u-gap-8 u-note">{day}</span>
      <span class="row-buttons u-flex u-gap-2">
        <IconButton icon="close" label={label} onClick={takeOut} />
      </span>
    </li>
  )
}

function DeleteProject({ name, remove }: { name: string; remove: () => void }) {
  const [isAsking, setIsAsking] = useState(false)
  if (!isAsking)
    return (
      <Button kind="text" class="delete-project u-above-8 u-begin" onClick={() => setIsAsking(true)}>
        {texts.projects.delete}
      </Button>
    )
  return (
    <Confirm
      class="delete-project u-above-8 u-begin u-center"
      question={texts.chats.askDelete(name)}
      confirm={remove}
      keep={() => setIsAsking(false)}
    >
      <span>{texts.projects.deleteLead}</span>
    </Confirm>
  )
}
