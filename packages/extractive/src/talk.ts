import { smallTalkOf, type SmallTalk } from '@inlay/text'

const about =
  'I am the built-in extractive model of Inlay. I search the documents and quote the sentences that fit your question, each with its source. I do not reason or write text of my own; a language model takes over as soon as one is configured.'

const again = 'Is there anything else you want to know from the documents?'

const replies: Readonly<Record<SmallTalk, string>> = {
  empty: 'Ask me a question, and I will look for the answer in the documents.',
  greeting: 'Hello! Ask me a question, and I will look for the answer in the documents.',
  wellbeing: `Ready to search. ${again}`,
  thanks: `You are welcome. ${again}`,
  acknowledgement: again,
  farewell: 'Goodbye!',
  identity: about,
  help: about,
}

export function smallTalk(message: string): string | undefined {
  const kind = smallTalkOf(message)
  return kind && replies[kind]
}

/** The answer if search is not available and the conversation contains no answer. */
export const withoutDocuments =
  'I can only answer from documents, and searching them is not available for this message. I am the built-in extractive model: I quote the sentences that fit best, and know nothing by myself.'
