import type { LocalModels } from '@inlay/protocol/administration'
import { useState } from 'preact/hooks'
import { useLoaded } from '../controls/use-loaded.ts'
import { toFailure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'

interface LocalModelProps {
  readonly service: Pick<Service, 'localModels' | 'chooseLocalModel'>
  readonly onChange: () => void
}

export function LocalModel({ service, onChange }: LocalModelProps) {
  // Without permission, nothing is offered.
  const { value: read } = useLoaded((signal) => service.localModels(signal), [service])
  const [changed, setChanged] = useState<LocalModels | undefined>(undefined)
  const [isChanging, setIsChanging] = useState(false)
  const [words, setWords] = useState('')
  const choose = async (choice: { base_url: string; model: string } | null): Promise<void> => {
    setIsChanging(true)
    try {
      setChanged(await service.chooseLocalModel(choice))
      setWords(choice === null ? texts.chat.builtInAgain : texts.chat.answersFromNow(choice.model))
      onChange()
    } catch (error) {
      setWords(toFailure(error).message)
    } finally {
      setIsChanging(false)
    }
  }
  const { chosen = null, servers = [] } = changed ?? read ?? {}
  const [server] = servers
  return (
    <div class="local-model u-note">
      {chosen !== null ? (
        <p>
          {texts.chat.goesTo(chosen.server)}{' '}
          <button type="button" disabled={isChanging} onClick={() => void choose(null)}>
            {texts.chat.useBuiltIn}
          </button>
        </p>
      ) : (
        server !== undefined && <Offer server={server} isChanging={isChanging} choose={choose} />
      )}
      <p role="status">{words}</p>
    </div>
  )
}

interface OfferProps {
  readonly server: LocalModels['servers'][number]
  readonly isChanging: boolean
  readonly choose: (choice: { base_url: string; model: string }) => Promise<void>
}

function Offer({ server, isChanging, choose }: OfferProps) {
  const [model, setModel] = useState(server.models[0] ?? '')
  return (
    <p>
      {texts.chat.runsHere(server.name)}{' '}
      {server.models.length > 1 && (
        <select aria-label={texts.chat.model} value={model} onChange={(event) => setModel(event.currentTarget.value)}>
          {server.models.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}{' '}
      <button type="button" disabled={isChanging} onClick={() => void choose({ base_url: server.base_url, model })}>
        {texts.chat.letAnswer(model)}
      </button>{' '}
      {texts.chat.thenGoTo}
    </p>
  )
}
