import { spaceless } from './terms.ts'

const phrases = {
  greeting: `hi;hello;hey;hiya;yo;greetings;good morning;good afternoon;good evening;good day;hallo;guten tag;guten morgen;
    guten abend;moin;servus;grüezi;hola;buenas;buenos días;buenas tardes;buenas noches;bonjour;bonsoir;salut;coucou;ciao;
    buongiorno;buonasera;olá;oi;bom dia;boa tarde;boa noite;goedemorgen;goedemiddag;goedendag;hoi;hej;hejsan;god morgon;
    god morgen;cześć;dzień dobry;привет;здравствуйте;добрый день;merhaba;selam;günaydın;مرحبا;السلام عليكم;你好;您好;嗨;
    こんにちは;おはようございます;안녕하세요;안녕;नमस्ते`,
  wellbeing: `how are you;how are you doing;how is it going;how's it going;what's up;how do you do;wie geht es dir;wie geht es ihnen;
    wie geht's;cómo estás;qué tal;comment ça va;ça va;come stai;tudo bem;hoe gaat het;как дела;nasılsın;你好吗;元気ですか`,
  thanks: `thanks;many thanks;thank you;thx;ty;cheers;danke;danke schön;dankeschön;vielen dank;gracias;muchas gracias;merci;
    grazie;grazie mille;obrigado;obrigada;dank je;dank je wel;dank u;bedankt;tack;tak;dziękuję;спасибо;teşekkürler;
    teşekkür ederim;شكرا;谢谢;谢谢你;谢谢您;多谢;ありがとう;ありがとうございます;감사합니다;고마워요;धन्यवाद`,
  acknowledgement: `ok;okay;k;great;good;nice;cool;perfect;awesome;excellent;got it;i see;makes sense;all right;alright;
    understood;wow;yes;no;sure;alles klar;verstanden;de acuerdo;d'accord;parfait;va bene;perfetto;
    entendido;好的;明白了;わかりました;알겠습니다`,
  farewell: `bye;goodbye;good bye;see you;good night;that is all;that's all;tschüss;auf wiedersehen;bis bald;adiós;hasta luego;
    au revoir;arrivederci;tchau;tot ziens;hej då;do widzenia;пока;до свидания;再见;さようなら`,
  identity: `who are you;what are you;what is your name;what's your name;are you a bot;are you a robot;are you a human;are you an ai;
    are you human;are you real;is this a bot;is this a human;is this an ai;what is this assistant;what is this bot;what is this chat;
    what's this bot;which model are you;what model are you;which llm are you;which language model are you;which model is this;
    which model do you use;which ai is this;wer bist du;wer sind sie;wie heißt du;bist du ein bot;bist du eine ki;quién eres;
    quién es usted;cómo te llamas;qui es-tu;qui êtes-vous;tu es qui;chi sei;come ti chiami;quem é você;quem és tu;wie ben je;
    wie ben jij;wie bent u;vem är du;hvem er du;kim jesteś;кто ты;кто вы;kimsin;sen kimsin;من أنت;من انت;你是谁;您是谁;
    あなたは誰ですか;あなたは誰;누구세요`,
  help: `help;help me;what can you do;what do you do;what can i ask;what can i ask you;what can i ask here;what could i ask;
    what should i ask;what can i do;what can i do here;how can you help;how can you help me;how do you work;how does this work;
    how do i use this;how do i use you;what do you know;can you help;can you help me;hilfe;was kannst du;ayuda;
    qué puedes hacer;aide;que peux-tu faire;aiuto;cosa sai fare;ajuda;o que você pode fazer;wat kun je;你能做什么;你会什么`,
}

/** The kind of a message that asks nothing of documents; `empty` has neither letters nor digits, such as an emoji. */
export type SmallTalk = 'empty' | keyof typeof phrases

/** Words that only accompany a phrase. */
const companions =
  /^(?:there|all|you|everyone|everybody|team|inlay|bot|assistant|a lot|so much|very much|again|for (?:me|us)|for (?:the|your|all your) (?:help|answer|time)|exactly|today|(?:that|this|it|which) (?:really |has )?help(?:ed|s)(?: a lot| me)?|(?:that|this) (?:is|was) (?:very |really )?helpful|(?:very|so) helpful|das hat (?:mir )?geholfen|doing|please|later|soon|then|now|really|just|and|so|well|oh|schön|sehr|dir|ihnen|für mich|für uns|tun|zusammen|mucho|beaucoup|bien|mille|à tous|hoor)(?= |$)/u

const kinds = new Map<string, SmallTalk>()
for (const [kind, list] of Object.entries(phrases))
  for (const phrase of list.split(';')) kinds.set(bareOf(phrase), kind as SmallTalk)
const maxPhraseLength = Math.max(...[...kinds.keys()].map(({ length }) => length))
const maxLength = 120
const ornament =
  /[!?.,:;)("“”…¿¡，。！？、\p{Emoji_Presentation}\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\u200D]/gu

function bareOf(message: string): string {
  return message
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{M}\p{N}']+/gu, ' ')
    .trim()
}

/**
 * The kind of a message that asks nothing of documents: greetings, thanks and questions about the assistant, alone or one
 * after another. Of several, the last one says the kind. Undefined for everything else.
 */
export function smallTalkOf(message: string): SmallTalk | undefined {
  if (message.length > maxLength) return undefined
  const said = message.replace(ornament, ' ')
  if (said.trim() === '') return 'empty'
  // Signs may be what is asked for: `<=>`, `-k`, `/help`.
  if (/[^\p{L}\p{M}\p{N}\s'’-]|(?:^|\s)-\S/u.test(said)) return undefined
  let rest = bareOf(message)
  let kind: SmallTalk | undefined
  while (rest !== '') {
    const length = phraseLength(rest)
    if (length > 0) kind = kinds.get(rest.slice(0, length))
    const end = length > 0 ? length : (companions.exec(rest)?.[0].length ?? 0)
    if (end === 0) return undefined
    rest = rest.slice(end).trimStart()
  }
  return kind
}

/** Length of the longest phrase that a text begins with; 0 for none. */
function phraseLength(text: string): number {
  for (let length = Math.min(maxPhraseLength, text.length); length > 0; length--) {
    const ends = length === text.length || text[length] === ' ' || spaceless.test(text[length - 1] ?? '')
    if (ends && kinds.has(text.slice(0, length))) return length
  }
  return 0
}
