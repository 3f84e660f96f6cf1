import { news } from "../state";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";

/** What became of the last decision. Stands inside a live region. */
export function News() {
  const n = news.value;
  if (!n) return null;
  return (
    <span class="news">
      <Icon name={n.icon} />
      <span class="news-text">
        <Foreign text={n.text} />
        {n.subject && (
          <>
            {" "}
            <code>
              <Foreign text={n.subject} />
            </code>
          </>
        )}
      </span>
    </span>
  );
}
